/** The lists in the README and the guide agree with the code. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { it } from 'node:test'
import { parse } from 'smol-toml'
import { COMMANDS } from '../../src/cli/commands.ts'
import { isSettingKey, settingKeys, settingOf } from '../../src/config/settings.ts'
import type { TomlValue } from '../../src/config/values/kinds.ts'
import { ROOT, readPage, readPages } from './pages.ts'

it('the README has at most 10,000 bytes', () => {
  assert.ok(Buffer.byteLength(readPage('README.md').text) <= 10_000)
})

it('.ci/run runs the test command of the README', () => {
  const command = 'npm ci && npm test'
  assert.ok(readPage('README.md').text.includes(`\`${command}\``))
  assert.ok(readFileSync(path.join(ROOT, '.ci/run'), 'utf8').includes(`\n(${command})\n`))
})

it('each campaign that a page creates says who gets it', () => {
  const commands = readPages().flatMap(({ file, blocks }) =>
    blocks.flatMap(({ text }) =>
      text
        .replaceAll('\\\n', ' ')
        .split('\n')
        .filter((line) => /\/campaigns"? .*-d /.test(line))
        .map((line) => ({ file, line })),
    ),
  )
  assert.ok(commands.length >= 2)
  for (const { file, line } of commands) assert.match(line, /"audienceType":/, file)
})

it('the README lists every command', () => {
  const rows = readPage('README.md').text.match(/^\| `.*$/gm) ?? []
  for (const { name } of COMMANDS) {
    const [first = '', second = ''] = name.split(' ')
    const isListed = rows.some(
      (row) =>
        row.includes(`\`${name}\``) ||
        (row.includes(`\`${first} `) && row.includes(`\`${second}\``)),
    )
    assert.ok(isListed, name)
  }
})

it('the internals page explains every folder of src', () => {
  const { codeSpans } = readPage('src/docs/internals.md')
  const folders = readdirSync(path.join(ROOT, 'src'), { withFileTypes: true })
  for (const folder of folders) {
    if (folder.isDirectory()) assert.ok(codeSpans.includes(`${folder.name}/`), folder.name)
  }
})

it('the configuration page has the default and the description of every key', () => {
  const { text } = readPage('src/docs/configuration.md')
  const rows = text.split('\n').filter((line) => /^\| `[a-z0-9_.]+` \|/.test(line))
  const expected = settingKeys.map((key) => {
    const { default: value, otherwise = '', description } = settingOf(key)
    const shown = value === null ? otherwise : `\`${toToml(value)}\``
    return `| \`${key}\` | ${shown} | ${description} |`
  })
  assert.deepEqual(rows, expected)
})

it('the glossary explains at most 40 words, each once', () => {
  const { text } = readPage('src/docs/internals.md')
  const [, glossary = ''] = text.split('## Glossary')
  const rows = glossary.split('\n').filter((line) => /^\| (?!word \|)\w/.test(line))
  const words = rows.flatMap((row) => (row.split('|')[1] ?? '').split(',')).map((w) => w.trim())
  assert.ok(words.length > 20 && words.length <= 40, String(words.length))
  assert.equal(new Set(words).size, words.length)
})

it('no page has a backslash before a character that stands for itself', () => {
  const found = readPages().filter(({ escapes }) =>
    escapes.some((text) => !/[*_[\]<`|]/.test(text)),
  )
  assert.deepEqual(
    found.map(({ file }) => file),
    [],
  )
})

for (const { file, blocks } of readPages()) {
  for (const { language, text } of blocks) {
    if (language === 'json') it(`the JSON of ${file} can be parsed`, () => void JSON.parse(text))
    if (language === 'toml') {
      it(`the TOML of ${file} has known keys only`, () => {
        for (const key of flatten(parse(text))) assert.ok(isSettingKey(key), key)
      })
    }
  }
}

/** On one line, with spaces between the entries of a list. */
function toToml(value: TomlValue): string {
  return Array.isArray(value) ? `[${value.map(toToml).join(', ')}]` : JSON.stringify(value)
}

function flatten(table: object, prefix = ''): string[] {
  return Object.entries(table).flatMap(([name, value]) =>
    typeof value === 'object' && !Array.isArray(value)
      ? flatten(value, `${prefix}${name}.`)
      : [prefix + name],
  )
}
