import assert from 'node:assert/strict'
import { test } from 'node:test'
import { shellBlocks } from './commands/blocks.ts'
import { readPages } from './pages.ts'

const SAYING = 'from source, write `npm run -s pillarbox -- …`'

test('a page with commands says what they are called in a clone', () => {
  const silent = readPages().filter((page) => {
    const hasCommand = shellBlocks(page).some(({ text }) => /(?:^|\$\(|\| )pillarbox /m.test(text))
    return hasCommand && !page.text.includes(SAYING)
  })
  assert.deepEqual(
    silent.map(({ file }) => file).filter((file) => file !== 'README.md'),
    [],
  )
})
