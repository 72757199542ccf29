<?xml version="1.0" encoding="UTF-8"?>
<!-- Orders of the client, in the element names of the back end. -->
<xsl:stylesheet version="1.0"
    xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
    xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"
    xmlns:o="urn:example:orders"
    xmlns:b="urn:example:backend"
    exclude-result-prefixes="o">
  <xsl:output method="xml" omit-xml-declaration="yes" indent="no"/>
  <xsl:strip-space elements="*"/>

  <xsl:template match="/">
    <soap:Envelope>
      <soap:Body>
        <b:purchase>
          <xsl:apply-templates select="soap:Envelope/soap:Body/o:placeOrders/order"/>
        </b:purchase>
      </soap:Body>
    </soap:Envelope>
  </xsl:template>

  <xsl:template match="order">
    <item>
      <code><xsl:value-of select="symbol"/></code>
      <customer><xsl:value-of select="buyer"/></customer>
      <amount><xsl:value-of select="price"/></amount>
      <count><xsl:value-of select="volume"/></count>
    </item>
  </xsl:template>
</xsl:stylesheet>
