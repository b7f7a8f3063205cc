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

/** `a/b.tsx` and `'../c.ts'` -> `c.ts`; both are paths below `src/dashboard`. */
const resolve = (from: string, specifier: string) =>
  path.posix.join(path.posix.dirname(from), specifier)
const readFile = (file: string) => readFileSync(path.join(root, file), 'utf8')

/** The files that a part loads before it runs, and itself. */
function loadedBy(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found
  found.add(file)
  const statement = /^(?:import|export) (?!type\b)[^'(]*'(\.[^']+)'/gm
  for (const [, specifier = ''] of readFile(file).matchAll(statement)) {
    const other = resolve(file, specifier)
    if (/\.tsx?$/.test(other)) loadedBy(other, found)
  }
  return found
}

/** The parts that are loaded on demand, each with the file that loads it. */
const lazyParts = new Map(
  globSync('**/*.{ts,tsx}', { cwd: root }).flatMap((name) => {
    const file = name.replaceAll(path.sep, '/')
    return [...readFile(file).matchAll(/import\('(\.[^']+)'\)/g)].map(
      ([, specifier = '']) => [resolve(file, specifier), file] as const,
    )
  }),
)

/** The files of a part, of the frame, and of the part that loads it. */
function filesWith(part: string): Set<string> {
  const files = new Set([...loadedBy('app.tsx'), ...loadedBy(part)])
  const loader = lazyParts.get(part) ?? ''
  if (files.has(loader)) return files
  const parents = [...lazyParts.keys()].filter((other) => loadedBy(other).has(loader))
  for (const file of parents.flatMap((parent) => [...loadedBy(parent)])) files.add(file)
  return files
}

/** Names of the server that resemble keys of texts stand here as data. */
const NO_KEYS = ['logic/activity.ts']

describe('the texts of the dashboard', () => {
  it('come with the part of the dashboard that shows them', () => {
    const areas = globSync('text/en/*.ts', { cwd: root }).map((file) =>
      file.replaceAll(path.sep, '/'),
    )
    const missing = ['main.tsx', ...lazyParts.keys()]
      .filter((part) => !part.startsWith('text/'))
      .flatMap((part) => {
        const files = [...filesWith(part)]
        const isCode = (file: string) => !file.startsWith('text/') && !NO_KEYS.includes(file)
        const used = files.filter(isCode).map(readFile).join('\n')
        return areas
          .filter((area) => !files.includes(area))
          .flatMap((area) =>
            [...readFile(area).matchAll(/^ {2}'([^']+)':/gm)].map(([, key = '']) => key),
          )
          .filter((key) => used.includes(`'${key}'`))
          .map((key) => `${part} shows ${key}`)
      })
    assert.deepEqual(missing, [])
  })

  it('stand in one area each', () => {
    for (const language of ['en', 'de']) {
      const keys = globSync(`text/${language}/*.ts`, { cwd: root }).flatMap((file) =>
        [...readFile(file).matchAll(/^ {2}'([^']+)':/gm)].map(([, key]) => key),
      )
      assert.deepEqual(
        keys.filter((key, at) => keys.indexOf(key) !== at),
        [],
      )
    }
  })

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
