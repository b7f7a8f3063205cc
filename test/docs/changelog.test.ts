import assert from 'node:assert/strict'
import { test } from 'node:test'
import packageJson from '../../package.json' with { type: 'json' }
import { listSections } from '../../scripts/release/changelog.ts'
import { readPage } from './pages.ts'

test('the changelog begins with what is not released, and has the present version', () => {
  const titles = listSections(readPage('src/docs/changelog.md').text).map(({ title }) => title)
  assert.equal(titles[0], 'Unreleased')
  const { version } = packageJson
  assert.ok(
    titles.some((title) => title.startsWith(`${version} (`)),
    version,
  )
  assert.equal(new Set(titles).size, titles.length)
})
