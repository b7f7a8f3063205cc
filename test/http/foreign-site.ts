/** Header fields by which a browser tells that a page of another site asks; each is enough. */
export const FOREIGN_SITE: readonly Readonly<Record<string, string>>[] = [
  { 'Sec-Fetch-Site': 'cross-site' },
  { 'Sec-Fetch-Site': 'same-site' },
  { Origin: 'https://evil.test' },
  { Origin: 'null' },
]
