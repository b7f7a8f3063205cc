import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { type Forms, pseudo } from '../../src/dashboard/logic/fill.ts'
import { de } from '../../src/dashboard/text/de.ts'
import { en } from '../../src/dashboard/text/en.ts'

const source: Readonly<Record<string, string | Forms>> = en
const root = path.join(import.meta.dirname, '..', '..', 'src', 'dashboard')
const code = globSync('**/*.{ts,tsx}', { cwd: root })
  .filter((file) => !file.startsWith('text'))
  .map((file) => readFileSync(path.join(root, file), 'utf8'))
  .join('\n')

const formsOf = (text: string | Forms) => (typeof text === 'string' ? [text] : Object.values(text))
const placesOf = (text: string | Forms) => {
  return [...new Set(formsOf(text).flatMap((one) => one.match(/\{\w+\}/g) ?? []))].sort()
}

describe('the texts of the dashboard', () => {
  it('are each used, by name or by a code', () => {
    // `t(`theme.${name}`)` and `codeText('failed', code)` use all texts with that beginning.
    const beginnings = [
      ...[...code.matchAll(/`([\w.]+)\.\$\{/g)].map(([, one]) => `${one}.`),
      ...[...code.matchAll(/codeText\(\s*'([\w.]+)'/g)].map(([, one]) => `${one}.`),
    ]
    const unused = Object.keys(en).filter(
      (key) => !code.includes(`'${key}'`) && !beginnings.some((one) => key.startsWith(one)),
    )
    assert.deepEqual(unused, [])
  })

  it('have the same places in every language', () => {
    for (const [key, text] of Object.entries(de)) {
      assert.deepEqual(placesOf(text), placesOf(source[key] ?? ''), key)
    }
  })

  it('are translated: German differs from English, but for names', () => {
    const same = Object.entries(de).filter(
      ([key, text]) => JSON.stringify(text) === JSON.stringify(source[key]),
    )
    const words = same
      .flatMap(([, text]) => formsOf(text))
      .filter((text) => /[a-z]{4,} [a-z]{3,}/.test(text))
    assert.deepEqual(words, [])
  })

  it('have every form that their language needs', () => {
    for (const [language, table] of [
      ['en', source],
      ['de', de],
    ] as const) {
      const { pluralCategories } = new Intl.PluralRules(language).resolvedOptions()
      for (const [key, text] of Object.entries(table)) {
        if (typeof text === 'string') continue
        assert.deepEqual(
          Object.keys(text).sort(),
          [...pluralCategories].sort(),
          `${language} ${key}`,
        )
      }
    }
  })

  it('keep their places in the pseudo-language, and grow by 40 %', () => {
    const changed = pseudo(source)
    for (const [key, text] of Object.entries(source)) {
      assert.deepEqual(placesOf(changed[key] ?? ''), placesOf(text), key)
      const [before = '', after = ''] = [formsOf(text)[0], formsOf(changed[key] ?? '')[0]]
      assert.ok(after.length >= before.length * 1.4, key)
    }
  })
})
