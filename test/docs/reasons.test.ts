/** The page of the reasons has every code with its values, and every refusal. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lexer, type Tokens } from 'marked'
import { EMAIL_REASONS, EXECUTION_REASONS, REFUSALS } from '../../src/records/reason-codes.ts'
import { readPage } from './pages.ts'

const page = readPage('src/docs/reasons.md')

/** The rows of all tables `| code | meaning | values |`: the code, and the names of its values. */
function rows(): [string, string[]][] {
  const tables = lexer(page.text).filter((token): token is Tokens.Table => token.type === 'table')
  return tables
    .filter(({ header }) => header[0]?.text === 'code')
    .flatMap((table) => table.rows)
    .map(([code, , values]) => [namesIn(code)[0] ?? '', namesIn(values)])
}

function namesIn(cell: Tokens.TableCell | undefined): string[] {
  return [...(cell?.text ?? '').matchAll(/`(\w+)`/g)].map(([, name = '']) => name)
}

test('each code of a reason has a row with its values, in the order of the sentence', () => {
  const declared = { ...EMAIL_REASONS, ...EXECUTION_REASONS }
  assert.equal(rows().length, Object.keys(declared).length)
  assert.deepEqual(Object.fromEntries(rows()), declared)
})

test('each refusal is named', () => {
  for (const refusal of REFUSALS) assert.ok(page.codeSpans.includes(refusal), refusal)
})
