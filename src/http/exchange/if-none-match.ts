/**
 * Whether the client has this representation already. `given`: the field If-None-Match, which compares weakly
 * (RFC 9110, section 13.1.2): a proxy that compresses an answer makes its tag weak.
 */
export function isKnownTag(given: string | undefined, etag: string): boolean {
  const tags = given?.split(',').map((tag) => tag.trim().replace(/^W\//, '')) ?? []
  return tags.includes(etag) || tags.includes('*')
}
