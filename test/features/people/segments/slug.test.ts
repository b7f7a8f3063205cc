import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  segmentEvent,
  segmentSlug,
} from '../../../../src/features/people/segments/membership-events.ts'

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
