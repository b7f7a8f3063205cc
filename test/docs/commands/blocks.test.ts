/** The command blocks of all pages: their languages, and those that are not run. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { NOT_RUN, pages, shellBlocks } from './run-pages.ts'

it('every entry of the table of blocks that are not run belongs to a block', () => {
  const texts = pages.flatMap(shellBlocks).map(({ text }) => text)
  for (const [part] of NOT_RUN)
    assert.ok(
      texts.some((text) => text.includes(part)),
      part,
    )
})

it('every block names its language', () => {
  const known = ['sh', 'json', 'toml', 'ini', 'js', 'text', 'yaml']
  for (const { file, blocks } of pages) {
    for (const { language, text } of blocks) assert.ok(known.includes(language), `${file}: ${text}`)
  }
})
