<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:include href="inc/part.xsl"/>
  <xsl:template match="/"><a/></xsl:template>
</xsl:stylesheet>
