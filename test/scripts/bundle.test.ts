import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { reexport } from '../../scripts/bundle.ts'
import * as drizzle from '../../src/store/drizzle.ts'

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
