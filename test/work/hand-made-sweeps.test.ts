import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readSources } from '../architecture-rules.ts'
import { findHandMade } from './hand-made-sweeps.ts'

/** Each with the reason. */
const ALLOWED: Record<string, string> = {
  'features/ground/chunks.ts writes in a loop': 'chunks as a request sends them',
  'features/ground/requests/log.ts writes in a loop': 'lines as requests leave them',
  'features/operation/erasure/end-project.ts writes in a loop': 'one job for each project',
  'features/operation/questions/answer.ts writes in a loop': 'each answer is work of its own',
  'features/outreach/campaigns/settle-stopped.ts writes in a loop': 'each campaign by itself',
  'features/outreach/workflows/definition/delete.ts writes in a loop':
    'each workflow by itself, after its rows',
  'features/outreach/workflows/executions/cancel-all.ts writes in a loop':
    'each workflow by itself',
  'features/people/contacts/list/search-index.ts has a pace of its own':
    'a loop that never ends, and rests between two rounds',
  'features/people/import-export/import-file.ts writes in a loop': 'each file by itself',
  'features/people/import-export/run.ts has a pace of its own':
    'the time within the transaction decides how many rows a batch has, and a dry run writes none',
  'features/tenancy/accounts/callers/last-used.ts writes in a loop': 'notes as requests leave them',
  'features/tenancy/billing/metering/settle.ts writes in a loop':
    'a note between two requests to Stripe',
}

describe('bulk changes', () => {
  it('go through a sweep, or say here why not', () => {
    assert.deepEqual(
      findHandMade(readSources()),
      Object.keys(ALLOWED).sort(),
      'Use sweep, sweepRows or sweepPages of src/work/sweep.ts, or a row of src/work/retention.ts.',
    )
  })
})

describe('the check of sweeps', () => {
  const found = (text: string) => findHandMade(new Map([['features/people/a.ts', text]]))

  for (const loop of [
    'for (;;) { const count = await store.write(act) }',
    'while ((await deps.store.write((tx) => act(tx))) === BATCH);',
    'do { await store.write(act) } while (more)',
    'for (const batch of batches) await store.write(act, { heavyFor })',
    'for await (const page of pages) { const run = () => store.write(act) }',
  ]) {
    it(`finds ${loop}`, () => {
      assert.deepEqual(found(`async function run() { ${loop} }`), [
        'features/people/a.ts writes in a loop',
      ])
    })
  }

  it('finds who paces work', () => {
    assert.deepEqual(found("import { createBatchPace } from '../../work/pace.ts'\n"), [
      'features/people/a.ts has a pace of its own',
    ])
  })

  it('leaves a write that is in no loop, and other writes', () => {
    assert.deepEqual(found('for (const row of rows) {}\nawait store.write(act)'), [])
    assert.deepEqual(found('await store.write(act)\nfor (;;) file.write(bytes)'), [])
  })
})
