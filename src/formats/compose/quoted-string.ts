/**
 * Returns the text inside a quoted-string (RFC 5322 section 3.2.4), and any other token unchanged.
 */
export function unquote(token: string): string {
  if (token.length < 2 || !token.startsWith('"') || !token.endsWith('"')) return token
  return token.slice(1, -1).replace(/\\(.)/gsu, '$1')
}
