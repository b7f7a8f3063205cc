import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, it } from 'node:test'
import { bundleFrom, escapeNonAscii, reexport } from '../../scripts/bundle.ts'
import * as drizzle from '../../src/store/drizzle.ts'
import { LANGUAGES } from '../../src/texts/languages.ts'
import { textsOf } from '../../src/texts/texts.ts'

const file = path.join(import.meta.dirname, '..', '..', 'src', 'store', 'drizzle.ts')

describe('the bundled drizzle.ts', () => {
  it('exports the same names as the original', () => {
    const text = reexport(readFileSync(file, 'utf8'))
    const lists = [...text.matchAll(/\{([^}]*)\}/g)].map(([, names = '']) => names)
    const names = lists.flatMap((list) => list.split(',').map((name) => name.trim()))
    const exported = names.filter(Boolean).map((name) => name.split(' as ').at(-1))
    assert.deepEqual(exported.sort(), Object.keys(drizzle).sort())
  })

  it('renames exports as the original does', () => {
    const source = "const m = require('p')\nexport const { a, b: c } = m\n"
    assert.equal(reexport(source), "export { a, b as c } from 'p'")
  })

  it('is refused when an export has an unknown form', () => {
    assert.throws(() => reexport('export const x = 1'), /not understood/)
    assert.throws(() => reexport('export const { x } = y\n'), /y is no required package/)
  })
})

describe('the bundled footers', () => {
  it('bring along no other texts', async (t) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'pillarbox-footers-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const outfile = path.join(folder, 'footers.cjs')
    await bundleFrom({ entryPoints: ['src/texts/footers.ts'], outfile })
    const { FOOTERS } = createRequire(import.meta.url)(outfile)
    for (const language of LANGUAGES) {
      assert.deepEqual(FOOTERS[language], textsOf(language).footer, language)
    }
    assert.doesNotMatch(readFileSync(outfile, 'utf8'), /unsubscribed|invitation/)
  })
})

describe('the bundled text', () => {
  it('is ASCII, with regular expressions that match the same', () => {
    const source = '[/bo[iî]te|無效/.source, /^[\u{1f600}-\u{1f64f}😀]$/u.source, "é"]'
    const escaped = escapeNonAscii(source)
    assert.match(escaped, /^[\0-\x7f]+$/)
    const [accents, faces] = new Function(`return ${escaped}`)() as [string, string]
    assert.ok(new RegExp(accents).test('boîte') && new RegExp(accents).test('無效'))
    assert.ok(new RegExp(faces, 'u').test('😀') && !new RegExp(faces, 'u').test('\ud83d'))
  })

  it('is refused where an escape would change its meaning', () => {
    assert.throws(() => escapeNonAscii('/\\é/'), /a backslash precedes/)
  })
})
