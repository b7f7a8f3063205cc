/**
 * Sentences with names in them. A name is escaped, and isolated from the direction of the text around
 * it (`bdi`).
 */
import { html } from 'hono/html'
import { fillPieces, type PlaceholderValues } from '../../texts/fill.ts'

export type Html = ReturnType<typeof html>

/** Returns `text` with the names in place of its placeholders. */
export function phrase(text: string, names: PlaceholderValues): Html {
  return html`${fillPieces(text, names, named)}`
}

function named(name: string): Html {
  return html`<strong><bdi>${name}</bdi></strong>`
}
