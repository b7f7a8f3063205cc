/** A reader who sees one line knows from its names which room it is of: no two files export the same name. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readSources } from './architecture-rules.ts'

/** An operation of a route may have the name of the function that it calls. */
const ROUTES = 'http/routes/'

/** The generated types of clients have the names of the records that they mirror, and only the dashboard sees them. */
const CLIENT = 'client/'

/** Code of the browser shares nothing with the program, so its names are compared among themselves. */
const DASHBOARD = 'dashboard/'

/** A translation has the name of the English table that it translates. */
const TRANSLATION = /^dashboard\/text\/(?!en\/)\w+\//

const EXPORT =
  /^export (?:async )?(?:abstract )?(?:const|let|function\*?|type|class|interface) (\w+)/gm

/** Lines `name: file, file`, in the order of the names. */
function findSharedNames(sources: ReadonlyMap<string, string>): string[] {
  const filesOf = new Map<string, Set<string>>()
  for (const [file, text] of sources) {
    const isSkipped = file.startsWith(ROUTES) || file.startsWith(CLIENT) || TRANSLATION.test(file)
    if (isSkipped) continue
    for (const [, name = ''] of text.matchAll(EXPORT)) {
      filesOf.set(name, (filesOf.get(name) ?? new Set()).add(file))
    }
  }
  return [...filesOf]
    .filter(([, files]) => files.size > 1)
    .map(([name, files]) => `${name}: ${[...files].sort().join(', ')}`)
    .sort()
}

describe('an exported name', () => {
  it('is declared in one file of src/, but for the operations of routes', () => {
    const sources = [...readSources()]
    const isBrowser = ([file]: [string, string]) => file.startsWith(DASHBOARD)
    const shared = [
      ...findSharedNames(new Map(sources.filter((one) => !isBrowser(one)))),
      ...findSharedNames(new Map(sources.filter(isBrowser))),
    ]
    const advice = `Choose the noun of the room's own subject, as DnsFinding and MessageFinding,
listDueBatches and listDueCampaigns. A type of one meaning has one file, which the others import.`
    assert.deepEqual(shared, [], `${shared.join('\n')}\n\n${advice}\n`)
  })

  it('is seen in every form of a declaration, and not when it is private', () => {
    const one = `export const a = 1\nexport async function b() {}\nexport function* c() {}
export type D = 1\nexport class E {}\nconst f = 1\nexport interface G {}`
    const sources = new Map([
      ['store/one.ts', one],
      ['cli/two.ts', `${one}\nexport const f = 2`],
      ['http/routes/three.ts', one],
    ])
    const names = findSharedNames(sources).map((line) => line.split(':')[0])
    assert.deepEqual(names, ['D', 'E', 'G', 'a', 'b', 'c'])
  })
})
