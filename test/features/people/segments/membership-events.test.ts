/** The events of segments: their names, and names of events that no segment makes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createSegment } from '../../../../src/features/people/segments/edit-segment.ts'
import {
  findSilentEvents,
  segmentEvent,
  segmentSlug,
} from '../../../../src/features/people/segments/membership-events.ts'
import { addProject, openTestCore } from '../../../core.ts'
import { unlikeName } from '../../ground/unlike-name.ts'

const id = '0199aaaa-0000-7000-8000-000000000001'

const slugs: [string, string][] = [
  ['VIP Customers!', 'vip-customers'],
  ['  Trial   users ', 'trial-users'],
  ['a - b -- c', 'a-b-c'],
  ['-edges-', 'edges'],
  ['under_score 2', 'under_score-2'],
  ['Größe & Maß', 'gre-ma'],
  ['tab\there', 'tab-here'],
  ['a.b/entry', 'abentry'],
  ['顧客', id],
  ['!!!', id],
  ['- - -', id],
]

for (const [name, slug] of slugs) {
  test(`the slug of ${JSON.stringify(name)} is ${slug}`, () => {
    assert.equal(segmentSlug({ id, name }), slug)
    assert.equal(segmentEvent({ id, name }, 'entry'), `segment.${slug}.entry`)
    assert.equal(segmentEvent({ id, name }, 'exit'), `segment.${slug}.exit`)
  })
}

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
