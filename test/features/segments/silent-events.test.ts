import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSegment } from '../../../src/features/segments/create.ts'
import { findSilentEvents } from '../../../src/features/segments/silent-events.ts'
import { newId } from '../../../src/store/ids.ts'
import { addProject, openTestCore } from '../../core.ts'

/** 60 letters without much in common. */
const longName = () => `${newId()}${newId()}`.replaceAll('-', '').slice(-60)

test('the suggestions for many unknown names share a bounded effort', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const slugs = Array.from({ length: 40 }, longName)
  for (const name of slugs) await createSegment(core, { projectId, name, type: 'STATIC' })
  const near = slugs.at(-1)?.slice(0, -1)
  const names = Array.from({ length: 200 }, (_, index) => `segment.${near}${index}.entry`)
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
