/** A state: a shape, a word and a colour, so that none of the three is needed alone. */
import type { ComponentChildren } from 'preact'
import type { Tone } from '../logic/tone.ts'

export function Status({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return <span class={`st ${tone}`}>{children}</span>
}
