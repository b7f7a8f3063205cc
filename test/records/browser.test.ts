/** A browser imports the types of all records, and the files without schemas, and gets no zod. */
import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { build } from 'esbuild'

const ROOM = path.join(import.meta.dirname, '../../src/records')

/** Limits, words and tables: what a page needs at run time. */
const WITHOUT_SCHEMAS = ['event-name.ts', 'limits.ts', 'operators.ts', 'tables.ts', 'words.ts']

/** The files that end in a bundle for browsers, below the repository. */
async function inputsOf(contents: string, external: string[] = []): Promise<string[]> {
  const { metafile } = await build({
    stdin: { contents, loader: 'ts', resolveDir: ROOM },
    bundle: true,
    external,
    platform: 'browser',
    format: 'esm',
    write: false,
    metafile: true,
    absWorkingDir: path.join(ROOM, '../..'),
  })
  const [output] = Object.values(metafile.outputs)
  return Object.entries(output?.inputs ?? {})
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
    .map(([file]) => file)
}

test('the types of every record add nothing to a bundle', async () => {
  const files = globSync('*.ts', { cwd: ROOM })
  const imports = files.map((file, index) => `import type * as Types${index} from './${file}'`)
  const uses = files.map((_, index) => `keyof typeof Types${index}`).join(' | ')
  const inputs = await inputsOf(
    `${imports.join('\n')}\nexport const name: ${uses} = 'contactRecord'`,
  )
  assert.deepEqual(inputs, ['<stdin>'])
})

test('limits and words come without a package', async () => {
  const exports = WITHOUT_SCHEMAS.map((file) => `export * from './${file}'`)
  const inputs = await inputsOf(exports.join('\n'))
  assert.deepEqual(
    inputs.filter((file) => !file.startsWith('src/records/') && !file.startsWith('src/base/')),
    [],
  )
  for (const file of WITHOUT_SCHEMAS) assert.ok(inputs.includes(`src/records/${file}`), file)
})

test('a schema would bring zod, which the check sees', async () => {
  const inputs = await inputsOf(`export { contactRecord } from './contact.ts'`, ['node:*'])
  assert.ok(inputs.some((file) => file.startsWith('node_modules/zod/')))
})
