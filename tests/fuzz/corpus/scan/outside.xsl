<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:include href="../b01.yaml"/>
  <xsl:import href="inc/none.xsl"/>
</xsl:stylesheet>
