/** Addresses of the list of emails, with the names that its filter has in the address. */

export type EmailLink = {
  /** What the search field of the list holds. */
  q?: string | undefined
  /** Statuses of the API with commas. */
  status?: string | undefined
  /** A state of the queue; `waiting`: all of them. */
  state?: string | undefined
  /** A mailbox provider, as analytics names it. */
  receiver?: string | undefined
  /** The domain of the recipients. */
  domain?: string | undefined
  /** One of the usual ranges that end now. */
  range?: string | undefined
  /** Days (YYYY-MM-DD) of the user's zone, both part of the range. */
  from?: string | undefined
  to?: string | undefined
}

/** `/emails` with the filter, below the project. */
export function emailsPath(filter: EmailLink): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(filter)) {
    if (value !== undefined && value !== '') query.set(name, value)
  }
  // Commas are allowed in a query and easier to read.
  const text = query.toString().replaceAll('%2C', ',')
  return text === '' ? '/emails' : `/emails?${text}`
}
