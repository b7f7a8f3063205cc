/** A text whose places hold instants, numbers, other texts and the words of servers. */
import type { ComponentChildren } from 'preact'
import type { Phrase, Value } from '../logic/reason.ts'
import { visible } from '../logic/visible.ts'
import { tx } from '../text/text.ts'
import { Time } from './time.tsx'

export function PhraseText({ phrase: { key, values } }: { phrase: Phrase }) {
  const places: Record<string, ComponentChildren> = {}
  // A text in a place has the same places, of which it uses its own.
  const texts: [string, Phrase][] = []
  for (const [name, value] of Object.entries(values)) {
    if ('text' in value) texts.push([name, { key: value.text, values: without(values, name) }])
    else places[name] = show(value)
  }
  for (const [name, phrase] of texts) places[name] = PhraseText({ phrase })
  return <>{tx(key, places)}</>
}

function without(values: Phrase['values'], name: string): Phrase['values'] {
  return Object.fromEntries(Object.entries(values).filter(([other]) => other !== name))
}

function show(value: Exclude<Value, { text: unknown }>): ComponentChildren {
  if ('at' in value) return Time({ at: value.at, form: 'minute' })
  if ('count' in value) return value.count
  if ('said' in value) return <span class="said">{visible(value.said)}</span>
  return visible(value.plain)
}
