/** Addresses of the list of emails, with the names that its filter has in the address, and what leads to one. */

import type { Operations } from '../../client/types.d.ts'

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

/**
 * Asks for one email that waits, to this domain. The server finds mail by the state in its queue, and by the status among
 * all mail; nobody wants the total.
 */
export function oneWaiting(domain: string | undefined): Operations['GET /emails']['query'] {
  return { state: 'waiting', limit: 1, total: false, ...(domain !== undefined && { domain }) }
}
