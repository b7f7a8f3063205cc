/** A cursor is of one list: no two lists seal theirs with the same name, so each refuses those of the others. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readSources } from '../architecture-rules.ts'

/** What seals and reads the cursors of any list, by the name that a caller hands in. */
const FOR_ANY_LIST = ['ground/newest-first.ts', 'ground/sorted-cursor.ts', 'records/cursor.ts']

/** The calls that take the name of a list, and the part of `NewestFirst` that has it. */
const CALL = /\b(?:sealCursor|unsealCursor|formatSortedCursor|parseSortedCursor)\(/g
const NAMED_CALL =
  /\b(?:sealCursor|unsealCursor|formatSortedCursor|parseSortedCursor)\(\s*deps,\s*'(\w+)'/g
const NEWEST_CALL = /\blistNewest\(/g
const NEWEST = /\bconst NEWEST_\w+ = \{\s*list: '(\w+)'/g

/** The files that seal cursors with each name. */
function findNames(sources: ReadonlyMap<string, string>): Map<string, string[]> {
  const filesOf = new Map<string, string[]>()
  for (const [file, text] of sources) {
    const named = [...text.matchAll(NAMED_CALL), ...text.matchAll(NEWEST)].map(([, name]) => name)
    for (const name of new Set(named)) {
      filesOf.set(`${name}`, [...(filesOf.get(`${name}`) ?? []), file])
    }
  }
  return filesOf
}

describe('the name of a list in its cursors', () => {
  const sources = readSources()

  it('is of one list', () => {
    const names = findNames(sources)
    assert.ok(names.has('contacts') && names.has('campaigns') && names.has('uploads'))
    const shared = [...names].filter(([, files]) => files.length > 1)
    assert.deepEqual(shared, [], 'each list seals its cursors with a name of its own')
  })

  it('stands where the list is', () => {
    for (const [file, text] of sources) {
      if (FOR_ANY_LIST.some((each) => file.endsWith(each))) continue
      const countOf = (pattern: RegExp) => [...text.matchAll(pattern)].length
      assert.equal(countOf(NAMED_CALL), countOf(CALL), `${file}: name the list in the call`)
      assert.equal(countOf(NEWEST), countOf(NEWEST_CALL), `${file}: name the list in NEWEST_…`)
    }
  })
})
