import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { bundleTests } from '../../scripts/bundle-tests.ts'
import { showSourcePlaces } from '../../scripts/source-places.ts'
import type { TestFiles } from '../../scripts/test-batch.ts'

const FILES = {
  'shared.ts': `const states: string[] = []
export function note(state: string): string {
  states.push(state)
  return states.join()
}
`,
  'a.test.ts': `import { note } from './shared.ts'
export const states = note('a')
export const place = [import.meta.dirname, import.meta.filename, import.meta.url, import.meta.main]
`,
  'b.test.ts': `import { note } from './shared.ts'

export const states: string = note('b')
if (states.length > 0) throw new Error(states)
`,
}

async function bundleFiles(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'pillarbox-bundle-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const fileOf = (name: string) => path.join(folder, name)
  for (const [name, text] of Object.entries(FILES)) writeFileSync(fileOf(name), text)
  const names = ['a.test.ts', 'b.test.ts'].map((name) => path.relative('', fileOf(name)))
  const bundle = fileOf('tests.mjs')
  await bundleTests(bundle, names)
  const { testFiles } = (await import(pathToFileURL(bundle).href)) as { testFiles: TestFiles }
  return { folder, bundle, a: testFiles[names[0]!]!, b: testFiles[names[1]!]! }
}

test('a file of the bundle runs when it is asked for, in its own place, with modules that all share', async (t) => {
  const { folder, a, b } = await bundleFiles(t)
  await assert.rejects(b(), { message: 'b' })
  const { states, place } = (await a()) as { states: string; place: unknown[] }
  assert.equal(states, 'b,a')
  const file = path.join(folder, 'a.test.ts')
  assert.deepEqual(place, [folder, file, pathToFileURL(file).href, false])
})

test('an error in the bundle is shown with its place in the source', async (t) => {
  const { folder, bundle, b } = await bundleFiles(t)
  const error: Error = await b().then(
    () => assert.fail('no error'),
    (reason) => reason,
  )
  assert.ok(error.stack?.includes(bundle))
  const place = `${path.relative('', path.join(folder, 'b.test.ts'))}:4:`
  const shown = showSourcePlaces(String(error.stack))
  assert.ok(shown.includes(place), shown)
  assert.equal(showSourcePlaces('file:///none.mjs:1:2'), 'file:///none.mjs:1:2')
})
