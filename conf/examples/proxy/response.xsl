<?xml version="1.0" encoding="UTF-8"?>
<!-- What the back end answered, in the element names of the client. -->
<xsl:stylesheet version="1.0"
    xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
    xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"
    xmlns:o="urn:example:orders"
    xmlns:b="urn:example:backend"
    exclude-result-prefixes="b">
  <xsl:output method="xml" omit-xml-declaration="yes" indent="no"/>
  <xsl:strip-space elements="*"/>

  <xsl:template match="/">
    <soap:Envelope>
      <soap:Body>
        <o:placeOrders>
          <xsl:apply-templates select="soap:Envelope/soap:Body/b:purchase/item"/>
        </o:placeOrders>
      </soap:Body>
    </soap:Envelope>
  </xsl:template>

  <xsl:template match="item">
    <order>
      <symbol><xsl:value-of select="code"/></symbol>
      <buyer><xsl:value-of select="customer"/></buyer>
      <price><xsl:value-of select="amount"/></price>
      <volume><xsl:value-of select="count"/></volume>
    </order>
  </xsl:template>
</xsl:stylesheet>
