/** The command blocks of all pages: their languages, and those that are not run. */
import assert from 'node:assert/strict'
import path from 'node:path'
import { it } from 'node:test'
import { FIRST, NOT_RUN, pages, SHORTER, shellBlocks, WAITING } from './blocks.ts'

it('every entry of the tables of blocks that are not run or run with less waiting belongs to a block', () => {
  const texts = pages.flatMap(shellBlocks).map(({ text }) => text)
  for (const [part] of [...NOT_RUN, ...SHORTER])
    assert.ok(
      texts.some((text) => text.includes(part)),
      part,
    )
})

it('every page with a place of its own exists', () => {
  const names = pages.map(({ file }) => path.basename(file))
  for (const name of [...FIRST, ...WAITING]) assert.ok(names.includes(name), name)
})

it('every block names its language', () => {
  const known = ['sh', 'json', 'toml', 'ini', 'js', 'text', 'yaml', 'html']
  for (const { file, blocks } of pages) {
    for (const { language, text } of blocks) assert.ok(known.includes(language), `${file}: ${text}`)
  }
})
