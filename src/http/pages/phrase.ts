/**
 * Sentences with names in them. A name is escaped, and isolated from the direction of the text around
 * it (`bdi`). Braces in a name are not placeholders.
 */
import { html } from 'hono/html'

export type Html = ReturnType<typeof html>

type Names = { project: string; email: string }

/** `text` with the names in place of `{project}` and `{email}`. */
export function phrase(text: string, names: Names): Html {
  const parts = text.split(/\{(project|email)\}/)
  return html`${parts.map((part, index) => (index % 2 === 0 ? part : named(part, names)))}`
}

function named(placeholder: string, { project, email }: Names): Html {
  return html`<strong><bdi>${placeholder === 'email' ? email : project}</bdi></strong>`
}
