/** The tables of the fields of bodies agree with their schemas. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lexer, type Tokens } from 'marked'
import type { z } from 'zod'
import { nameTreeOf } from '../../src/http/name-tree.ts'
import { sendBody } from '../../src/http/routes/send.ts'
import { newCampaign } from '../../src/records/campaign-request.ts'
import { newTemplate } from '../../src/records/template.ts'
import { openTestCore } from '../core.ts'
import { readPage } from './pages.ts'

/** The fields of each table `| field | meaning |` of a page. */
function tablesOf(file: string): string[][] {
  const tables = lexer(readPage(file).text).filter(
    (token): token is Tokens.Table => token.type === 'table',
  )
  return tables
    .filter(({ header }) => header[0]?.text === 'field')
    .map(({ rows }) => rows.flatMap(([first]) => namesIn(first?.text ?? '')))
}

function namesIn(cell: string): string[] {
  return [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)
}

function fieldsOf(schema: z.ZodType): string[] {
  return [...(nameTreeOf(schema)?.fields?.keys() ?? [])].sort()
}

test('each field of a body has a row on its page', async (t) => {
  const { limits } = (await openTestCore(t)).config
  const [ofSend = [], ofTemplate = []] = tablesOf('src/docs/templates.md')
  const [ofCampaign = []] = tablesOf('src/docs/campaigns.md')
  assert.deepEqual(ofSend.toSorted(), fieldsOf(sendBody(limits)))
  assert.deepEqual(ofTemplate.toSorted(), fieldsOf(newTemplate))
  assert.deepEqual(ofCampaign.toSorted(), fieldsOf(newCampaign))
})
