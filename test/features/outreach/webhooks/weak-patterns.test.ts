import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findWeakPatterns } from '../../../../src/features/outreach/webhooks/event-patterns.ts'
import { newId } from '../../../../src/store/ids.ts'
import { events } from '../../../../src/store/schema/events.ts'
import { addProject, openTestCore } from '../../../core.ts'

test('all patterns of a request share the effort of suggestions', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  await core.store.write(async (tx) => {
    for (let number = 100; number < 900; number += 1) {
      const name = `${number}`.repeat(30)
      await tx.insert(events).values({ id: newId(), projectId, name, createdAt: 1 })
    }
  })
  const cheap = 'emial.sent'
  const costly = 'x'.repeat(90)
  const weak = (patterns: string[]) => findWeakPatterns(core, projectId, patterns)
  assert.deepEqual([...(await weak([cheap, costly])).keys()], [cheap])
  assert.deepEqual([...(await weak([costly, cheap])).keys()], [], 'nothing is left for the second')
})
