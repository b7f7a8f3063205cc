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
    'features/a/a.ts',
    'http/server.ts',
    'log.ts',
    'mail/address.ts',
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
      { 'jobs/a.ts': "import {\n  verb,\n} from '../features/a/a.ts'" },
      ['jobs/a.ts imports features/a/a.ts: jobs may not import features'],
    ],
    [
      'a dynamic import into a forbidden room',
      { 'mail/a.ts': "const it = await import('../store/store.ts')" },
      ['mail/a.ts imports store/store.ts: mail may not import store'],
    ],
    [
      'a cycle of features',
      {
        'features/a/a.ts': "import { b } from '../b/b.ts'",
        'features/b/b.ts': "import { c } from '../c/c.ts'",
        'features/c/c.ts': "import type { A } from '../a/a.ts'",
      },
      [
        'circle of files: features/a/a.ts > features/b/b.ts > features/c/c.ts > features/a/a.ts',
        ...['a', 'b', 'c'].map((name) => `cycle of features through ${name}`),
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
        'mail/b.ts': "import type { C } from './c.tsx'",
        'mail/c.tsx': "import type { D } from './d.ts'\nimport { e } from './e.ts'",
        'mail/d.ts': "import { b } from './b.ts'",
        'mail/e.ts': '',
      },
      ['circle of files: mail/b.ts > mail/c.tsx > mail/d.ts > mail/b.ts'],
    ],
    [
      'a feature that takes its parts from the assembled core',
      {
        'features/core.ts': "import type { A } from './a/a.ts'",
        'features/a/a.ts': "import type { Core } from '../core.ts'",
      },
      [
        'circle of files: features/a/a.ts > features/core.ts > features/a/a.ts',
        'cycle of features through a',
        'cycle of features through core.ts',
      ],
    ],
    [
      'exports of names that the file does not declare',
      {
        'mail/a.ts': "export { b } from './b.ts'\nexport * from './b.ts'",
        'mail/b.ts': "import { c } from './c.ts'\nexport type { c }",
        'mail/c.ts': '',
        'features/b/b.ts': "export type { A } from '../../store/schema/a.ts'",
        'features/c/c.ts': "export type { A } from '../../store/schema/a.ts'",
        'store/schema/a.ts': '',
      },
      [
        'features/c/c.ts exports A, which it does not declare; features/b/b.ts passes it on',
        'mail/a.ts exports *, which it does not declare',
        'mail/a.ts exports b, which it does not declare',
        'mail/b.ts exports c, which it does not declare',
      ],
    ],
    [
      'drizzle-orm past its one file',
      { 'features/a/a.ts': "import { eq } from 'drizzle-orm'" },
      ['features/a/a.ts imports drizzle-orm past store/drizzle.ts'],
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
      'sockets in mail',
      { 'mail/a.ts': "import { lookup } from 'node:dns/promises'" },
      ['mail/a.ts imports node:dns/promises: mail is pure'],
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
      'features/base.ts': '',
      'features/core.ts': "import type { A } from './a/a.ts'",
      'features/a/a.ts':
        "import type { Base } from '../base.ts'\nimport { log } from '../../log.ts'",
      'features/b/b.ts': "import { a } from '../a/a.ts'\nimport type { SQL } from 'drizzle-orm'",
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
