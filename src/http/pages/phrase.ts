/**
 * Sentences with names in them. A name is escaped, and isolated from the direction of the text around
 * it (`bdi`). Braces in a name are not placeholders.
 */
import { html } from 'hono/html'

export type Html = ReturnType<typeof html>

/** By placeholder. */
type Names = Readonly<Partial<Record<'project' | 'email' | 'inviter', string>>>

/** `text` with the names in place of `{project}`, `{email}` and `{inviter}`. */
export function phrase(text: string, names: Names): Html {
  const known: Readonly<Record<string, string | undefined>> = names
  const parts = text.split(/\{(project|email|inviter)\}/)
  return html`${parts.map((part, index) => (index % 2 === 0 ? part : named(known[part] ?? '')))}`
}

function named(name: string): Html {
  return html`<strong><bdi>${name}</bdi></strong>`
}
