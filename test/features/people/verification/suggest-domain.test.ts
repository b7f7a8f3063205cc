import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readShippedList } from '../../../../src/features/people/verification/domain-lists.ts'
import {
  KNOWN_TYPOS,
  suggestDomain,
  WELL_KNOWN_DOMAINS,
} from '../../../../src/features/people/verification/suggest-domain.ts'
import { parseDomain } from '../../../../src/formats/address/address.ts'

/** Domains without mail, and the domains that were meant. */
const mistyped: [domain: string, meant: string][] = [
  ['gmail.con', 'gmail.com'],
  ['gmail.cmo', 'gmail.com'],
  ['gmail.comm', 'gmail.com'],
  ['gmail.vom', 'gmail.com'],
  ['gmaik.com', 'gmail.com'],
  ['gmaik.co', 'gmail.com'],
  ['ggmail.com', 'gmail.com'],
  ['gmaol.com', 'gmail.com'],
  ['yahoo.con', 'yahoo.com'],
  ['yahoo.co', 'yahoo.com'],
  ['yahop.com', 'yahoo.com'],
  ['yahoo.co.ul', 'yahoo.co.uk'],
  ['yahoo.co.k', 'yahoo.co.uk'],
  ['yhaoo.de', 'yahoo.de'],
  ['hotmaol.com', 'hotmail.com'],
  ['hitmail.com', 'hotmail.com'],
  ['hotmail.cim', 'hotmail.com'],
  ['hotmail.couk', 'hotmail.co.uk'],
  ['outlook.con', 'outlook.com'],
  ['putlook.com', 'outlook.com'],
  ['outlokk.com', 'outlook.com'],
  ['iclooud.com', 'icloud.com'],
  ['icloud.vom', 'icloud.com'],
  ['googlemial.con', 'googlemail.com'],
  ['protonmsil.cmo', 'protonmail.com'],
  ['protn.me', 'proton.me'],
  ['gmx.dee', 'gmx.de'],
  ['gmx.nte', 'gmx.net'],
  ['web.dee', 'web.de'],
  ['t-onlien.de', 't-online.de'],
  ['tonline.de', 't-online.de'],
  ['comcats.net', 'comcast.net'],
  ['verzon.net', 'verizon.net'],
  ['btinernet.com', 'btinternet.com'],
  ['wandoo.fr', 'wanadoo.fr'],
  ['laposte.ne', 'laposte.net'],
]

/** Whose names are near to a well-known one, or short, or nothing of the kind. */
const real = [
  'gmx.de',
  'gmx.at',
  'gmx.li',
  'web.de',
  'googlemail.com',
  'yahoo.co.uk',
  'yahoo.com.br',
  'yahoo.se',
  'hotmail.se',
  'live.dk',
  'outlook.dk',
  'mail.com',
  'email.com',
  'ymail.com',
  'fmail.co.uk',
  'me.com',
  'mac.com',
  'cloud.com',
  'apl.com',
  'sol.com',
  'zoho.eu',
  'proton.me',
  'pm.me',
  'hey.com',
  'qq.com',
  '163.com',
  'wp.pl',
  'o2.pl',
  'bk.ru',
  'list.ru',
  'orange.com',
  'comcast.com',
  'verizon.com',
  'att.com',
  'google.com',
  'microsoft.com',
  'apple.com',
  'siemens.com',
  'bund.de',
  'example.com',
  'tmail.com',
  'bmail.com',
  'hotmart.com',
  'outbook.com',
  'yahoos.com',
  'gmailos.com',
]

test('a mistyped domain that accepts no mail gets the domain that was meant', () => {
  const found = mistyped.map(([domain]) => [domain, suggestDomain({ domain, acceptsMail: false })])
  assert.deepEqual(found, mistyped)
})

test('known typos of the largest providers get a suggestion although they accept mail', () => {
  for (const [slip, meant] of KNOWN_TYPOS) {
    assert.equal(suggestDomain({ domain: slip, acceptsMail: true }), meant)
    assert.equal(suggestDomain({ domain: slip, acceptsMail: undefined }), meant)
  }
})

test('any other domain that accepts mail, or could, is not a typo', () => {
  for (const domain of [...real, ...WELL_KNOWN_DOMAINS, ...readShippedList('free')]) {
    if (KNOWN_TYPOS.has(domain)) continue
    assert.equal(suggestDomain({ domain, acceptsMail: true }), undefined, domain)
    assert.equal(suggestDomain({ domain, acceptsMail: undefined }), undefined, domain)
  }
})

test('short names, words and domains of other countries are not typos, even without mail', () => {
  const domains = [
    ...['yahoo.cn', 'hotmail.no', 'gmx.dk', 'yahoo.se', 'live.no', 'outlook.ie', 'web.fr'],
    ...['he.com', 'as.com', 'man.com', 'gnx.de', 'wob.de', 'love.com', 'tree.fr', 'five.com'],
    ...['company.con', 'example.cmo', 'mail.gmail.com.evil.test', 'a.b', 'gmail.net'],
    ...['xn--gml-cma.com', 'xn--p1ai.xn--p1ai', 'mycompany.de', 'hotels.com', 'yahtzee.com'],
  ]
  for (const domain of domains) {
    assert.equal(suggestDomain({ domain, acceptsMail: false }), undefined, domain)
  }
})

test('typos and well-known domains are valid domains, and no domain is both', () => {
  for (const domain of [...WELL_KNOWN_DOMAINS, ...KNOWN_TYPOS.keys()]) {
    assert.equal(parseDomain(domain), domain)
  }
  assert.equal(new Set(WELL_KNOWN_DOMAINS).size, WELL_KNOWN_DOMAINS.length)
  assert.deepEqual(
    WELL_KNOWN_DOMAINS.filter((domain) => KNOWN_TYPOS.has(domain)),
    [],
  )
  for (const meant of KNOWN_TYPOS.values()) assert.ok(WELL_KNOWN_DOMAINS.includes(meant), meant)
})

test('a suggestion is always a well-known domain other than the given one', () => {
  const name = fc.stringMatching(/^[a-z0-9-]{1,20}(\.[a-z0-9-]{1,12}){1,3}$/)
  fc.assert(
    fc.property(name, fc.boolean(), (domain, acceptsMail) => {
      const suggested = suggestDomain({ domain, acceptsMail })
      if (suggested === undefined) return
      assert.notEqual(suggested, domain)
      assert.ok(WELL_KNOWN_DOMAINS.includes(suggested))
    }),
    { numRuns: 500 },
  )
})
