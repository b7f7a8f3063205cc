/** What is open is counted by `src/turns/key-places.ts`. What else counts down by key is named here, with the reason. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSources } from '../architecture-rules.ts'

/** One less of a key, by hand. */
const GIVEN_BACK = /\.get\([^\n]*\) \?\? [01]\) - 1\b/

const REASONS: Record<string, string> = {
  'features/outreach/workflows/graph/structure.ts': 'the edges of a graph',
  'outbound/dispatch/dispatcher.ts': 'what each thread has, to find the one with least',
  'outbound/thread-messages.ts': 'what each thread has, to find the one with least',
}

test('no file counts places of its own, but for those whose reason is known', () => {
  const found = [...readSources()].flatMap(([file, text]) => (GIVEN_BACK.test(text) ? file : []))
  const message =
    'Use createKeyPlaces of src/turns/key-places.ts, or name the file here and say why.'
  assert.deepEqual(found.sort(), Object.keys(REASONS).sort(), message)
})
