import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'

const folder = path.join(import.meta.dirname, '..', '..', 'src', 'dashboard', 'style')
const sheets = new Map(
  globSync('*.css', { cwd: folder }).map((name) => [
    name,
    readFileSync(path.join(folder, name), 'utf8').replace(/\/\*[\s\S]*?\*\//g, ''),
  ]),
)

/** The selectors of a sheet, one for each part between commas. */
function selectorsOf(sheet: string): string[] {
  const heads = sheet.match(/[^{}]+(?=\{)/g) ?? []
  return heads
    .flatMap((head) => head.split(/,(?![^(]*\))/))
    .map((one) => one.trim())
    .filter((one) => one !== '' && !one.startsWith('@'))
}

/** The class of a rule for one class alone, which touches every element that has the class. */
const bareClass = (selector: string) => /^\.([\w-]+)$/.exec(selector)?.[1]
/** Parts of the frame to which the sheets of components add: these files extend `tokens.css` on purpose. */
const EXTENDED = ['jump', 'thumb', 'chart', 'dialog', 'door']

const classesIn = (selector: string) =>
  [...selector.matchAll(/\.([a-z][\w-]*)/gi)].map(([, one = '']) => one)

describe('the style sheets of the dashboard', () => {
  it('give one meaning to a class: a sheet has no rule for a class of another one', () => {
    const users = new Map<string, Set<string>>()
    for (const [name, sheet] of sheets) {
      for (const one of selectorsOf(sheet).flatMap(classesIn)) {
        users.set(one, (users.get(one) ?? new Set()).add(name))
      }
    }
    const shared = [...sheets]
      .filter(([name]) => name !== 'tokens.css')
      .flatMap(([name, sheet]) =>
        selectorsOf(sheet)
          .flatMap((selector) => bareClass(selector) ?? [])
          .filter((one) => !EXTENDED.includes(one) && (users.get(one)?.size ?? 0) > 1)
          .map(
            (one) =>
              `${name}: .${one} is also in ${[...(users.get(one) ?? [])].filter((each) => each !== name)}`,
          ),
      )
    assert.deepEqual([...new Set(shared)], [])
  })

  it('say nothing of left and right, so that they work in both directions of writing', () => {
    const own = [...sheets].filter(([name]) => name !== 'tokens.css')
    const physical = own.flatMap(([name, sheet]) =>
      (
        sheet.match(/(?:margin|padding|border)-(?:left|right)\b|text-align:\s*(?:left|right)/g) ??
        []
      ).map((one) => `${name}: ${one}`),
    )
    assert.deepEqual(physical, [])
  })
})
