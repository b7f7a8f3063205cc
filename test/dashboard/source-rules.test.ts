/** Faults of the pages that a reader of the source can see, each of which was made more than once. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'

const folder = path.join(import.meta.dirname, '..', '..', 'src', 'dashboard')
const sources = new Map(
  globSync('**/*.{ts,tsx}', { cwd: folder }).map((name) => [
    name,
    readFileSync(path.join(folder, name), 'utf8'),
  ]),
)

const FOCUS = /\.focus\(|\.showModal\(|document\.activeElement/

/** The texts between the parentheses of each call of `useEffect`. */
function effectsOf(source: string): string[] {
  return [...source.matchAll(/\buseEffect\(/g)].map(({ index, 0: head }) => {
    const start = index + head.length
    let depth = 1
    let end = start
    for (; depth > 0 && end < source.length; end += 1) {
      if (source[end] === '(') depth += 1
      if (source[end] === ')') depth -= 1
    }
    return source.slice(start, end - 1)
  })
}

const filesWhere = (holds: (source: string) => boolean) =>
  [...sources].filter(([, source]) => holds(source)).map(([name]) => name)

describe('the source of the dashboard', () => {
  it('moves no focus in an effect after the frame: a key that comes before it would go elsewhere', () => {
    assert.deepEqual(effectsOf('useEffect(() => box.focus({ a: f(1) }), [])'), [
      '() => box.focus({ a: f(1) }), []',
    ])
    assert.ok(sources.size > 100)
    const moves = (source: string) => effectsOf(source).some((effect) => FOCUS.test(effect))
    assert.deepEqual(filesWhere(moves), [])
  })

  it('uses the storage of the browser where its refusal does no harm', () => {
    const uses = (source: string) => /\b(?:local|session)Storage\b/.test(source)
    assert.deepEqual(filesWhere(uses).toSorted(), ['logic/storage.ts', 'theme.ts'])
  })
})
