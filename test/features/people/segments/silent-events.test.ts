import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSegment } from '../../../../src/features/people/segments/edit-segment.ts'
import { findSilentEvents } from '../../../../src/features/people/segments/membership-events.ts'
import { addProject, openTestCore } from '../../../core.ts'
import { unlikeName } from '../../ground/unlike-name.ts'

test('the suggestions for many unknown names share a bounded effort', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const slugs = Array.from({ length: 40 }, (_, seed) => unlikeName(seed))
  for (const name of slugs) await createSegment(core, { projectId, name, type: 'STATIC' })
  const near = slugs.at(-1)?.slice(0, -1)
  // No slug has an x, so no name is that of a segment.
  const names = Array.from({ length: 200 }, (_, index) => `segment.${near}x${index}.entry`)
  const silent = await findSilentEvents(core.store.read, projectId, names)
  assert.equal(silent.size, names.length)
  assert.equal(silent.get(names[0] ?? '')?.suggestion, `segment.${slugs.at(-1)}.entry`)
  assert.equal(silent.get(names.at(-1) ?? '')?.suggestion, null)
})

test('without any effort the names are found all the same', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  await createSegment(core, { projectId, name: 'VIP', type: 'STATIC' })
  const silent = await findSilentEvents(core.store.read, projectId, ['segment.vips.exit'], {
    pairs: 0,
  })
  assert.deepEqual(
    [...silent.values()].map(({ suggestion }) => suggestion),
    [null],
  )
})
