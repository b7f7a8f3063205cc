import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findEngineSql, listSql } from './engine-sql.ts'

describe('the check of SQL of one engine', () => {
  const engineSql: [string, string][] = [
    ['json_each', 'sql`id in (select value from json_each(${ids}))`'],
    ['json_extract', "sql<string>`json_extract(data, '$.a')`"],
    ['another JSON function', 'sql`json_group_array(id)`'],
    ['->>', 'sql`value ->> 0`'],
    ['indexed by', 'sql`select 1 from a indexed by a_newest`'],
    ['rowid', "sql.raw('rowid')"],
    ['match', 'sql`search match ${text}`'],
    ['glob', "sql`name glob 'email.*'`"],
    ['instr', 'sql`instr(a, b) > 0`'],
    ['octet_length', 'sql<Record<string, number>>`octet_length(a)`'],
    ['cross join', 'sql`from a cross join b on b.id = a.id`'],
    ['max or min of two values', 'sql`set a = max(0, ${b} - 1)`'],
    ['max or min of two values', 'sql`min(coalesce(a, 1), b)`'],
    ['limit -1', 'sql`order by id limit -1 offset 3`'],
    ['iif or ifnull', 'sql`iif(a = 1, 2, 3)`'],
    ['a unary plus', 'sql`where a = 1 and +b = 2`'],
    ['a unary plus', 'sql`where +${column} = 2`'],
    ['match', "sql`a ${flag ? sql`and b match 'x'` : sql``} c`"],
  ]
  for (const [name, text] of engineSql) {
    it(`is found: ${text}`, () => {
      const file = 'features/a/a.ts'
      assert.deepEqual(findEngineSql(new Map([[file, text]])), [`${file} has ${name} in its SQL`])
      assert.deepEqual(findEngineSql(new Map([['features/a/a.sqlite.ts', text]])), [])
    })
  }

  it('is not found in code, comments, strings, and SQL of every engine', () => {
    const text = `// sql\`rowid\`
      /** \`json_each\` and ->> */
      const match = /[\`/]->rowid/.exec('a match b') ?? "rowid"
      const next = sql\`a + \${b} + c - 1, max(d), min(coalesce(e, 0)) where matched = 1\`
      const address = \`+\${tag}@\${match.map((x) => \`\${x} glob\`)}\`
    `
    assert.deepEqual(findEngineSql(new Map([['features/a/a.ts', text]])), [])
  })

  it('is read with the values marked and nested templates apart', () => {
    const text = 'const a = sql`one ${f({ b: sql`two` })} three`'
    assert.deepEqual(listSql(text), ['two', 'one \u0000 three'])
  })
})
