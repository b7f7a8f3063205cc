import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Candidate, RANK } from '../../../../src/features/insight/search/candidate.ts'
import { chooseResults } from '../../../../src/features/insight/search/choose-results.ts'
import type { SearchResult } from '../../../../src/records/search.ts'

function candidate(kind: SearchResult['kind'], id: string, rank: number): Candidate {
  return { rank, result: { kind, id, title: id, detail: null, workflowId: null } }
}

const idsOf = (candidates: Candidate[]) => chooseResults(candidates).map(({ id }) => id)

test('an exact id stands before an address, its beginning, and a part of a name', () => {
  const ids = idsOf([
    candidate('campaign', 'part', RANK.part),
    candidate('contact', 'beginning', RANK.beginning),
    candidate('contact', 'exact', RANK.exact),
    candidate('email', 'id', RANK.id),
  ])
  assert.deepEqual(ids, ['id', 'exact', 'beginning', 'part'])
})

test('many contacts do not hide the one campaign, and there are at most twenty', () => {
  const contacts = Array.from({ length: 30 }, (_, at) =>
    candidate('contact', `c${at}`, RANK.beginning),
  )
  const ids = idsOf([...contacts, candidate('campaign', 'news', RANK.part)])
  assert.equal(ids.length, 20)
  assert.deepEqual([ids[0], ids[18], ids.at(-1)], ['c0', 'c18', 'news'])
})

test('a record that two searches found counts once, by its best rank', () => {
  const ids = idsOf([
    candidate('email', 'same', RANK.beginning),
    candidate('email', 'other', RANK.exact),
    candidate('email', 'same', RANK.id),
  ])
  assert.deepEqual(ids, ['same', 'other'])
})
