import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import packageJson from '../package.json' with { type: 'json' }
import { findBreaches, listImports, readSources } from './architecture-rules.ts'
import { findEngineSql } from './engine-sql.ts'

const packages = {
  dependencies: Object.keys(packageJson.dependencies),
  devDependencies: Object.keys(packageJson.devDependencies),
}

function assertNone(lines: readonly string[], advice: string): void {
  assert.deepEqual(lines, [], `${lines.join('\n')}\n\n${advice}\n`)
}

/** Breaches of a small program given as `{ 'room/file.ts': text }`. */
function breachesOf(files: Record<string, string>): string[] {
  const others = [
    'store/store.ts',
    'features/ground/a.ts',
    'http/server.ts',
    'base/log.ts',
    'formats/address.ts',
  ]
  const empty = others.map((file): [string, string] => [file, ''])
  return findBreaches(new Map([...empty, ...Object.entries(files)]), packages)
}

describe('the rooms of src/', () => {
  it('import only what the table allows', () => {
    const sources = readSources()
    assert.ok(sources.size > 0)
    assertNone(
      findBreaches(sources, packages),
      `The table at the top of test/architecture-rules.ts says which room may import which, and
src/docs/internals.md what each room is for. Move the code to the room that it belongs to, or pass the
value in as a parameter. Types that the files of a circle share go to a file of their own. Import a
name from the file that declares it. A new room gets a row in both tables.`,
    )
  })
})

describe('SQL of one engine', () => {
  it('stands in store/dialect.ts and in files *.sqlite.ts only', () => {
    assertNone(
      findEngineSql(readSources()),
      `Use a function of src/store/dialect.ts, or add one. A statement that needs more of the engine goes
to a file *.sqlite.ts beside the code that runs it, behind one typed function.`,
    )
  })
})

describe('comments', () => {
  it('name no section of a document outside the repository', () => {
    const named = [...readSources()].flatMap(([file, text]) =>
      [...text.matchAll(/\b(?:contract|specification),? §?\d[\d.]*/gi)].map(
        ([found]) => `${file}: ${found}`,
      ),
    )
    assertNone(named, 'Say the rule in a sentence, or link to a page of src/docs.')
  })
})

describe('the check of the rooms', () => {
  const wrong: [string, Record<string, string>, string[]][] = [
    [
      'an edge that imports the store, even its types',
      { 'http/routes/a.ts': "import type { Store } from '../../store/store.ts'" },
      ['http/routes/a.ts imports store/store.ts: http may not import store'],
    ],
    [
      'an edge that imports another',
      { 'inbound/a.ts': "import { serve } from '../http/server.ts'" },
      ['inbound/a.ts imports http/server.ts: inbound may not import http'],
    ],
    [
      'jobs that know a feature',
      { 'work/jobs/a.ts': "import {\n  verb,\n} from '../../features/ground/a.ts'" },
      ['work/jobs/a.ts imports features/ground/a.ts: work may not import features'],
    ],
    [
      'a word of the product in work',
      { 'work/a.ts': 'const projects = 1 // campaigns', 'work/jobs/a.ts': 'project_id' },
      [
        'work/a.ts says "campaign": work knows no product',
        'work/a.ts says "project": work knows no product',
      ],
    ],
    [
      'a dynamic import into a forbidden room',
      { 'formats/a.ts': "const it = await import('../store/store.ts')" },
      ['formats/a.ts imports store/store.ts: formats may not import store'],
    ],
    [
      'a cycle of features',
      {
        'features/mail/a/a.ts': "import { b } from '../b/b.ts'",
        'features/mail/b/b.ts': "import { c } from '../c/c.ts'",
        'features/mail/c/c.ts': "import type { A } from '../a/a.ts'",
      },
      [
        'circle of files: features/mail/a/a.ts > features/mail/b/b.ts > features/mail/c/c.ts > features/mail/a/a.ts',
        ...['a', 'b', 'c'].map((name) => `cycle of features through mail/${name}`),
      ],
    ],
    [
      'an area that imports a later one, and a folder that is no area',
      {
        'features/people/a/a.ts': "import type { B } from '../../mail/b/b.ts'",
        'features/mail/b/b.ts': '',
        'features/tools/a.ts': '',
      },
      [
        'features/people/a/a.ts imports features/mail/b/b.ts: mail comes after people',
        'features/tools/a.ts stands in no area',
      ],
    ],
    [
      'a cycle of rooms',
      {
        'app.ts': "import { run } from './cli/a.ts'",
        'cli/a.ts': "import { app } from '../app.ts'",
      },
      [
        'circle of files: app.ts > cli/a.ts > app.ts',
        'cycle of rooms through app',
        'cycle of rooms through cli',
      ],
    ],
    [
      'a circle of files of one folder, type imports included',
      {
        'formats/b.ts': "import type { C } from './c.tsx'",
        'formats/c.tsx': "import type { D } from './d.ts'\nimport { e } from './e.ts'",
        'formats/d.ts': "import { b } from './b.ts'",
        'formats/e.ts': '',
      },
      ['circle of files: formats/b.ts > formats/c.tsx > formats/d.ts > formats/b.ts'],
    ],
    [
      'a feature that takes its parts from the assembled core',
      {
        'core/core.ts': "import type { A } from '../features/mail/a/a.ts'",
        'features/mail/a/a.ts': "import type { Core } from '../../../core/core.ts'",
      },
      [
        'circle of files: core/core.ts > features/mail/a/a.ts > core/core.ts',
        'cycle of rooms through core',
        'cycle of rooms through features',
        'features/mail/a/a.ts imports core/core.ts: features may not import core',
      ],
    ],
    [
      'exports of names that the file does not declare',
      {
        'formats/a.ts': "export { b } from './b.ts'\nexport * from './b.ts'",
        'formats/b.ts': "import { c } from './c.ts'\nexport type { c }",
        'formats/c.ts': '',
        'features/mail/b/b.ts': "export type { A } from '../../../store/schema/a.ts'",
        'features/mail/c/c.ts': "export type { A } from '../../../store/schema/a.ts'",
        'store/schema/a.ts': '',
      },
      [
        'features/mail/c/c.ts exports A, which it does not declare; features/mail/b/b.ts passes it on',
        'formats/a.ts exports *, which it does not declare',
        'formats/a.ts exports b, which it does not declare',
        'formats/b.ts exports c, which it does not declare',
      ],
    ],
    [
      'drizzle-orm past its one file',
      { 'features/mail/a/a.ts': "import { eq } from 'drizzle-orm'" },
      ['features/mail/a/a.ts imports drizzle-orm past store/drizzle.ts'],
    ],
    [
      'the database driver outside the store',
      { 'cli/a.ts': "import Database from 'better-sqlite3'" },
      ['cli/a.ts imports better-sqlite3 past store/'],
    ],
    [
      'a package that is not declared, and one for development only',
      { 'http/a.ts': "import x from '@some/thing/deep'\nimport 'supertest'" },
      [
        'http/a.ts imports @some/thing, which is no dependency',
        'http/a.ts imports supertest, which is no dependency',
      ],
    ],
    [
      'sockets in formats',
      { 'formats/a.ts': "import { lookup } from 'node:dns/promises'" },
      ['formats/a.ts imports node:dns/promises: formats is pure'],
    ],
    [
      'a file outside every room, a missing file, a computed name',
      {
        'utils/a.ts': '',
        'cli/a.ts': "import { x } from './b.ts'",
        'cli/c.ts': 'await import(name)',
      },
      [
        'cli/a.ts imports ./b.ts, which does not exist in src/',
        'cli/c.ts imports a computed name',
        'utils/a.ts stands in no room',
      ],
    ],
  ]
  for (const [title, files, expected] of wrong) {
    it(`sees ${title}`, () => assert.deepEqual(breachesOf(files), expected))
  }

  it('accepts valid imports', () => {
    const right = {
      'features/ground/base.ts': '',
      'core/core.ts': "import type { A } from '../features/mail/a/a.ts'",
      'features/mail/a/a.ts':
        "import type { Base } from '../../ground/base.ts'\nimport { log } from '../../../base/log.ts'",
      'features/mail/b/b.ts':
        "import { a } from '../a/a.ts'\nimport type { SQL } from 'drizzle-orm'",
      'features/insight/c/c.ts': "import { a } from '../../mail/a/a.ts'",
      'store/drizzle.ts': "const core = require('drizzle-orm') as typeof import('drizzle-orm')",
      'cli/a.ts': "import { open } from '../store/store.ts'\nimport fs from 'node:fs'",
    }
    assert.deepEqual(breachesOf(right), [])
  })

  it('reads every form of import', () => {
    const text = `import a, { type B } from 'a'
import type {
  C,
} from 'b'
import * as d from 'c'
import 'd'
export * from 'e'
export type { F } from 'f'
const text = "from 'no'"
const g = await import('g')
`
    const read = listImports('x.ts', text).map(({ specifier, isType }) => [specifier, isType])
    const types = ['b', 'f']
    const expected = ['a', 'b', 'c', 'e', 'f', 'd', 'g'].map((name) => [name, types.includes(name)])
    assert.deepEqual(read, expected)
  })
})
