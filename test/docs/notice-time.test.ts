/** The help and the pages say how soon a running server sees what a command has changed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { COMMANDS } from '../../src/cli/commands.ts'
import { NOTICED_WITHIN_MS } from '../../src/store/files/external-changes.ts'
import { readPages } from './pages.ts'

const texts = [
  ...readPages().map(({ file, text }) => [file, text.replaceAll(/\s+/g, ' ')] as const),
  ...COMMANDS.map((command) => [command.name, JSON.stringify(command)] as const),
]

test('each time within which a command takes effect is the one that the server keeps', () => {
  const told = texts.flatMap(([place, text]) =>
    [...text.matchAll(/\bwithin (\d+) ms\b/g)].map(([, ms]) => [place, Number(ms)]),
  )
  const places = ['README.md', 'src/docs/accounts.md', 'src/docs/production.md']
  assert.deepEqual(
    told,
    [...places, 'src/docs/security.md', 'project keys'].map((place) => [place, NOTICED_WITHIN_MS]),
  )
})

test('no text says that a command ends the use of old keys at once', () => {
  for (const [place, text] of texts) assert.doesNotMatch(text, /--regenerate[^.|]*at once/, place)
})
