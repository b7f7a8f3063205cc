/** The command blocks of all pages: their languages, and those that are not run. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { NOT_RUN, pages, SHORTER, shellBlocks } from './run-pages.ts'

it('every entry of the tables of blocks that are not run or run with less waiting belongs to a block', () => {
  const texts = pages.flatMap(shellBlocks).map(({ text }) => text)
  for (const [part] of [...NOT_RUN, ...SHORTER])
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
