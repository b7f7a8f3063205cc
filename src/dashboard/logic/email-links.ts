/** The query of the list of emails, with the names that its address has. */

export type EmailFilter = {
  /** States with commas. */
  status?: string
  source?: string
  receiver?: string
  state?: string
  /** Days (YYYY-MM-DD) of the user's zone. */
  from?: string
  to?: string
}

/** `/emails` with the filter, below the project. */
export function emailsPath(filter: EmailFilter): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(filter)) {
    if (value !== undefined && value !== '') query.set(name, value)
  }
  // Commas are allowed in a query and easier to read.
  const text = query.toString().replaceAll('%2C', ',')
  return text === '' ? '/emails' : `/emails?${text}`
}
