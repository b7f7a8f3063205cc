import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findNotes } from '../../../scripts/release/changelog.ts'

const changelog = (unreleased: string) => `# Changelog

## Unreleased
${unreleased}
## 0.2.0 (2026-12-01)

### Added

- A dashboard.

## 0.1.0 (not released yet)

The first.

## 0.0.1 (2026-11-01)
`

describe('the notes of a version', () => {
  it('are the text of its section', () => {
    assert.equal(findNotes(changelog(''), '0.2.0'), '### Added\n\n- A dashboard.')
  })

  const refused: [reason: RegExp, version: string, unreleased?: string][] = [
    [/no section "0\.3\.0 \(DATE\)"/, '0.3.0'],
    [/no section "0\.2 /, '0.2'],
    [/has "0\.1\.0 \(not released yet\)"/, '0.1.0'],
    [/says nothing about 0\.0\.1/, '0.0.1'],
    [/move them to 0\.2\.0/, '0.2.0', '\n- A change.\n'],
  ]
  for (const [reason, version, unreleased = ''] of refused) {
    it(`are refused: ${reason.source}`, () => {
      assert.throws(() => findNotes(changelog(unreleased), version), reason)
    })
  }
})
