/** Calls of the API on pages, as commands for a terminal: they are the same in each language. */
import { html } from 'hono/html'
import type { Html } from './phrase.ts'

const JSON_HEADER = "-H 'Content-Type: application/json'"

export function showCalls(...lines: string[]): Html {
  return html`<pre dir="ltr"><code>${lines.join('\n\n')}</code></pre>\n`
}

export function logInCall(baseUrl: string, address: string): string {
  return accountCall(`${baseUrl}/auth/login`, address)
}

/** The cookie of the session is kept in a file. */
export function accountCall(url: string, address: string): string {
  return `curl -sS -c cookies.txt ${url} ${sending({ email: address, password: '…' })}`
}

/** Within the session that the file holds. */
export function sessionCall(url: string, body: object): string {
  return `curl -sS -b cookies.txt ${url} ${sending(body)}`
}

/** A shell reads a quote in single quotes as their end. */
function sending(body: object): string {
  return `${JSON_HEADER} -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`
}
