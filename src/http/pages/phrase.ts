/**
 * Sentences with names in them. A name is escaped, and kept apart from the direction of the text
 * around it (`bdi`); braces in a name are no placeholders.
 */
import { html } from 'hono/html'

export type Html = ReturnType<typeof html>

export type Names = { project: string; email: string }

/** `text` with the names where `{project}` and `{email}` stand. */
export function phrase(text: string, names: Names): Html {
  const parts = text.split(/\{(project|email)\}/)
  return html`${parts.map((part, index) => (index % 2 === 0 ? part : named(part, names)))}`
}

function named(placeholder: string, { project, email }: Names): Html {
  return html`<strong><bdi>${placeholder === 'email' ? email : project}</bdi></strong>`
}
