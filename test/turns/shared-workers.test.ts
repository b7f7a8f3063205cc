/**
 * Every place of the program that makes something which the work of several projects waits for: threads,
 * and limits of what runs at once. Each says which file keeps one project's work from delaying the
 * others without a bound. A new one needs a row.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readSources } from '../architecture-rules.ts'

const TURNS = 'turns/turns.ts'
/** By the maker: who shares it out, and how; null: it does no work of projects. */
const SHARED: Record<string, { by: string; how: string } | null> = {
  'outbound/composing/thread-tasks.ts': { by: TURNS, how: 'lines by project' },
  'store/store.ts': { by: 'store/read/readers.ts', how: 'lines by project' },
  'store/read/thread.ts': { by: 'store/read/readers.ts', how: 'lines by project' },
  'outbound/composing/composing.ts': {
    by: 'outbound/composing/composing.ts',
    how: 'MAX_WAITING_OF_PROJECT; the rest goes back to the queue of mail',
  },
  'outbound/dispatch/dispatcher.ts': {
    by: 'features/mail/messages/queue/lanes.ts',
    how: 'lanes by project; a message of more than 50 ms goes to a composing thread',
  },
  'inbound/inbound-reader.ts': {
    by: 'features/incoming/receiving/process/lines.ts',
    how: 'lines by project; 5 s of processor time and 3 s of DNS a message',
  },
  'inbound/submission-reader.ts': { by: TURNS, how: 'lines by project' },
  'features/people/verification/verifier.ts': { by: TURNS, how: 'lines by project' },
  'features/ground/list-totals.ts': { by: TURNS, how: 'lines by project' },
  'features/tenancy/uploads/image-files.ts': { by: TURNS, how: 'lines by network' },
  'store/snapshot/snapshot.ts': null,
  'store/long-migration.ts': null,
  // What the others are made of.
  'threads/start.ts': null,
  'outbound/threads.ts': null,
}

const MAKES =
  /(?<!function |typeof )\b(?:createThreadPool|createThreads|startThread|createTurns)\b(?=[(<,)])|\bnew Worker\(/

test('S31: every shared worker says how projects share it', () => {
  const sources = readSources()
  const makers = [...sources].flatMap(([file, text]) => (MAKES.test(text) ? [file] : []))
  assert.deepEqual(makers.toSorted(), Object.keys(SHARED).toSorted())
  for (const row of Object.values(SHARED)) {
    const text = row === null ? '' : sources.get(row.by)
    assert.notEqual(text, undefined, row?.by)
  }
})
