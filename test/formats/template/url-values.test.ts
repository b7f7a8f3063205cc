import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { templateFilters } from '../../../src/formats/template/filters.ts'
import { compileTemplate, renderTemplate } from '../../../src/formats/template/template.ts'
import { placeUrlValues } from '../../../src/formats/template/url-values.ts'

type Values = Record<string, unknown>

/** `values` are as foreign whether they come from the contact, the event or the system. */
function place(source: string, values: Values) {
  const results = ['stored', 'request', 'system'].map((origin) => {
    const variables = { stored: {}, request: {}, system: {}, [origin]: values }
    const template = compileTemplate(source, 'url')
    return placeUrlValues(renderTemplate(template, variables, { at: 0 }).text)
  })
  assert.deepEqual(results[1], results[0])
  assert.deepEqual(results[2], results[0])
  return results[0]!
}

function url(source: string, values: Values): string {
  const placed = place(source, values)
  assert.ok('url' in placed, 'fault' in placed ? placed.fault : '')
  return placed.url
}

const HOSTILE = 'a/b?c=d&e#f%2f \\ü\r\n+;=@:"\'()!*$,[]{}|^`<>~._-0'
const ENCODED =
  'a%2Fb%3Fc%3Dd%26e%23f%252f%20%5C%C3%BC%0D%0A%2B%3B%3D%40%3A%22%27%28%29%21%2A%24%2C%5B%5D%7B%7D%7C%5E%60%3C%3E~._-0'

test('a value in the path, the query and the fragment stays one segment, one value', () => {
  for (const before of ['/', '/x', '/x/', '?q=', '/p?a=1&q=', '#', '/p#a?b/', '/p?']) {
    for (const after of ['', '/end', '&r=1', '#f']) {
      const begin = `https://api.test${before}`
      assert.equal(url(`${begin}{{ v }}${after}`, { v: HOSTILE }), `${begin}${ENCODED}${after}`)
    }
  }
})

test('a value is what a receiver reads', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (v) => {
      const text = v.toWellFormed()
      fc.pre(!/[\ufdd0-\ufdef\ufffe\uffff]/.test(text) && text !== '.' && text !== '..')
      const read = new URL(url('https://api.test/a/{{ v }}/b?q={{ v }}&r=1#{{ v }}', { v: text }))
      const [, a, segment = '', b, ...more] = read.pathname.split('/')
      assert.deepEqual([a, decodeURIComponent(segment), b, more], ['a', text, 'b', []])
      assert.deepEqual(
        [...read.searchParams],
        [
          ['q', text],
          ['r', '1'],
        ],
      )
      assert.equal(decodeURIComponent(read.hash.slice(1)), text)
      assert.equal(read.host, 'api.test')
    }),
  )
})

test('a value at the beginning, in the scheme and in the host decides where the request goes', () => {
  const whole = 'https://me.test:8443/p/a%20b?x=1&y=%2f#z'
  assert.equal(url('{{ v }}', { v: whole }), whole)
  assert.equal(url(' {{ v }}\n', { v: ` ${whole}` }), whole)
  assert.equal(url('{{ v }}&q={{ w }}', { v: whole, w: '&' }), `${whole}&q=%26`)
  assert.equal(url('{{ v }}/{{ w }}', { v: 'https://me.test', w: '/' }), 'https://me.test/%2F')
  assert.equal(url('{{ v }}://h.test/{{ v }}', { v: 'https' }), 'https://h.test/https')
  assert.equal(url('https://{{ v }}/{{ v }}', { v: 'h.test:1' }), 'https://h.test:1/h.test%3A1')
  assert.equal(url('https://{{ v }}.h.test', { v: 'a/b?c' }), 'https://a/b?c.h.test')
  assert.equal(url('https://{{ a }}{{ b }}/', { a: 'h.test', b: ':8' }), 'https://h.test:8/')
  // The first value ended the host.
  assert.equal(url('https://{{ a }}{{ b }}', { a: 'h.test/', b: '?x' }), 'https://h.test/%3Fx')
  assert.equal(url('https:\\\\h.test\\{{ v }}', { v: '/' }), 'https:\\\\h.test\\%2F')
})

test('a full url in a query is a value', () => {
  const v = 'https://shop.test/a?b=c&d=e#f'
  assert.equal(new URL(url('https://h.test/?next={{ v }}&x=1', { v })).searchParams.get('next'), v)
})

test('what is encoded, or raw, is not encoded again', () => {
  const begin = 'https://h.test/?q='
  for (const filter of ['url_encode', 'cgi_escape', 'uri_escape'])
    assert.equal(url(`${begin}{{ v | ${filter} }}`, { v: 'ü %' }).match(/%25/g)?.length, 1, filter)
  assert.equal(url(`${begin}{{ v | url_encode }}`, { v: 'a b&c' }), `${begin}a+b%26c`)
  assert.equal(url(`${begin}{{ v | url_encode | downcase }}`, { v: 'A/' }), `${begin}a%2f`)
  assert.equal(url(`${begin}{{ v | raw }}`, { v: 'a&b=%20' }), `${begin}a&b=%20`)
  assert.equal(url('https://h.test{{ v | raw }}', { v: '/a/../b' }), 'https://h.test/a/../b')
  assert.equal(
    url(`{% assign e = v | url_encode %}${begin}{{ e }}&r={{ v }}`, { v: '&' }),
    `${begin}%26&r=%26`,
  )
})

test('a filter after one that encodes leaves no part of a value without encoding', () => {
  const begin = 'https://h.test/a/'
  const v = 'b/../c d?e&f+%2f'
  const encoded = 'b%2F..%2Fc+d%3Fe%26f%2B%252f'
  const after = (filters: string) => url(`${begin}{{ v | url_encode | ${filters} }}`, { v })
  assert.equal(after('append: "/x" | prepend: "p?"'), `${begin}p?${encoded}/x`)
  assert.equal(after('truncate: 4, ""'), `${begin}b%2F`)
  assert.equal(after('replace: "+", "%20"'), `${begin}${encoded.replace('+', '%20')}`)
  assert.equal(after('url_decode'), url(`${begin}{{ v }}`, { v }))
  assert.equal(after('url_decode | url_encode'), begin + encoded)
  assert.equal(after('json'), `${begin}%22${encoded.replaceAll('%', '%25').replace('+', '%2B')}%22`)
  assert.equal(url(`${begin}{{ v | uri_escape }}`, { v }), url(`${begin}{{ v }}`, { v }))
  assert.equal(
    url(`${begin}{{ v | url_encode | replace: "%2F", "/" }}`, { v: 'b/c?' }),
    `${begin}b/c%3F`,
  )
  const fault = { fault: 'a value makes "." or ".." a part of the path of the url' }
  for (const filters of [
    'url_encode | replace: "%2F", "/"',
    'url_encode | replace: "b%2F", "" | truncate: 2, ""',
    'uri_escape | replace: "b", "" | replace: "c", "" | remove: "/" | truncate: 2, ""',
    'cgi_escape | slice: 4, 2',
  ])
    assert.deepEqual(place(`${begin}{{ v | ${filters} }}`, { v }), fault, filters)
  for (const encode of ['url_encode', 'cgi_escape', 'uri_escape'])
    assert.deepEqual(place(`${begin}{{ v | ${encode} }}/b`, { v: '..' }), fault, encode)
  assert.deepEqual(place(`${begin}%2{{ v | url_encode | upcase }}`, { v: 'e' }), fault)
})

test('no filter after one that encodes opens a place', () => {
  const v = '/../x?y=1&z=2#f;%2f\\+\r\n ü'
  for (const first of [
    '',
    ' | url_encode',
    ' | cgi_escape',
    ' | uri_escape',
    ' | url_encode | upcase',
  ])
    for (const name of Object.keys(templateFilters())) {
      if (name === 'raw') continue
      for (const args of ['', ': "k"', ': "k", "l"', ': 1, 3']) {
        for (const last of ['', ' | url_decode', ' | append: "m"']) {
          const filters = `${first} | ${name}${args}${last}`
          const source = `https://h.test/a/n{{ v${filters} }}/b?q={{ v${filters} }}&r=1`
          const template = compileTemplate(source, 'url')
          const variables = { stored: {}, request: { v }, system: {} }
          const placed = placeUrlValues(renderTemplate(template, variables, { at: 0 }).text)
          const read = new URL('url' in placed ? placed.url : 'https://h.test/a/n/b?q=&r=')
          assert.equal(read.pathname.split('/').length, 4, filters + read.href)
          assert.deepEqual([...read.searchParams.keys()], ['q', 'r'], filters + read.href)
          assert.deepEqual([read.host, read.hash], ['h.test', ''], filters + read.href)
        }
      }
    }
})

test('text of the author stays, also what filters join with values', () => {
  const begin = 'https://h.test/'
  assert.equal(url(`${begin}{{ v | append: "/e?x=" }}{{ v }}`, { v: '/' }), `${begin}%2F/e?x=%2F`)
  assert.equal(url(`${begin}{{ "a/" | append: v }}`, { v: '/' }), `${begin}a/%2F`)
  assert.equal(url(`${begin}{{ v ?? a/b }}`, {}), `${begin}a/b`)
  assert.equal(url(`${begin}{{ v | default: "a/b" }}`, {}), `${begin}a/b`)
  assert.equal(url(`{{ "https://h.test/?q=" | append: v }}`, { v: '&a' }), `${begin}?q=%26a`)
  assert.equal(
    url(`{{ v | append: "/x/" | append: w }}`, { v: 'https://h.test', w: '?' }),
    `${begin}x/%3F`,
  )
  assert.equal(url(`${begin}{{ v | replace: "/", "-" }}`, { v: 'a/b' }), `${begin}a-b`)
  assert.equal(url(`${begin}{{ v | replace: "b", "/" }}`, { v: '/b' }), `${begin}%2F/`)
  assert.equal(url(`${begin}{{ v | remove: " " | strip }}`, { v: ' a b ' }), `${begin}ab`)
  assert.equal(url(`${begin}{{ v | strip }}`, { v: ' a/ ' }), `${begin}a%2F`)
  assert.equal(url(`${begin}{{ v | escape }}`, { v: '<' }), `${begin}%26lt%3B`)
  assert.equal(url(`${begin}{{ v | json }}`, { v: ['/'] }), `${begin}%5B%22%2F%22%5D`)
  assert.equal(url(`${begin}{{ v | split: "," | last }}`, { v: 'a,b/' }), `${begin}b%2F`)
})

test('tags keep what is a value', () => {
  const begin = 'https://h.test/'
  const captured = '{% capture p %}\n a/{{ v }}\n{% endcapture %}'
  assert.equal(url(`${captured}${begin}{{ p | strip }}`, { v: '/?' }), `${begin}a/%2F%3F`)
  assert.equal(url(`${captured}{{ p }}`, { v: 'x' }), 'a/x')
  assert.equal(
    url('{% capture u %}https://h.test/{{ v }}{% endcapture %}{{ u }}?x={{ u }}', { v: '/?' }),
    'https://h.test/%2F%3F?x=https://h.test/%2F%3F',
  )
  assert.equal(
    url(`{% capture p %}a b{{ v }}{% endcapture %}${begin}{{ p | replace: " ", "/" }}`, { v: '/' }),
    `${begin}a/b%2F`,
  )
  assert.equal(
    url(`${begin}{% for each in v %}{{ each }}/{% endfor %}`, { v: ['a/', '?'] }),
    `${begin}a%2F/%3F/`,
  )
  assert.equal(
    url(`${begin}{{ v.k }}{{ v }}`, { v: { k: '/' } }),
    `${begin}%2F%5Bobject%20Object%5D`,
  )
  assert.equal(url(`${begin}{{ v }}`, { v: ['a', '/'] }), `${begin}a%2C%2F`)
  assert.equal(
    url(`${begin}{% if v == "/" %}yes{% endif %}{{ 1 }}{{ n }}`, { v: '/', n: 2 }),
    `${begin}yes12`,
  )
  assert.equal(url(`https://h.\n\ttest/\n{{ v }}`, { v: 1 }), 'https://h.test/1')
})

test('the namespace data has values of both origins', () => {
  const variables = { stored: { a: '&', b: '=' }, request: { b: '?' }, system: {} }
  for (const source of [
    '{{ data.a }}/{{ data.b }}',
    "{{ data['a'] }}/{{ data['b'] | append: '' }}",
  ]) {
    const { text } = renderTemplate(compileTemplate(`https://h.test/${source}`, 'url'), variables)
    assert.deepEqual(placeUrlValues(text), { url: 'https://h.test/%26/%3F' })
  }
})

test('a template with a fault encodes the values, too', () => {
  assert.equal(url('https://h.test/{{ v }}{% if %}', { v: '/' }), 'https://h.test/%2F{% if %}')
  assert.equal(url('https://h.test/{{ v | nothing }}', { v: '/' }), 'https://h.test/%2F')
})

test('a value cannot go up in the path: no encoding hides the dots', () => {
  const fault = { fault: 'a value makes "." or ".." a part of the path of the url' }
  for (const v of ['.', '..'])
    for (const after of ['', '/b', '\\b', '?c', '#d'])
      assert.deepEqual(place(`https://h.test/a/{{ v }}${after}`, { v }), fault, v + after)
  assert.deepEqual(place('https://h.test/a/.{{ v }}/b', { v: '.' }), fault)
  assert.deepEqual(place('https://h.test/a/%2e{{ v }}/b', { v: '.' }), fault)
  assert.deepEqual(place('https://h.test/{{ w }}/{{ v }}/b', { v: '..', w: '' }), fault)
  // Elsewhere they mean nothing; those of the author are the author's.
  for (const [source, v] of [
    ['https://h.test/a/x{{ v }}/b', '..'],
    ['https://h.test/a/{{ v }}/b', '...'],
    ['https://h.test/a?b=/{{ v }}/', '..'],
    ['https://h.test/a/../{{ v }}', 'b'],
    ['{{ v }}', 'https://h.test/a/../b'],
  ] as const)
    assert.ok('url' in place(source, { v }), source)
  assert.equal(url('https://h.test/a/{{ v }}/b', { v: '../x' }), 'https://h.test/a/..%2Fx/b')
})

test('stand-ins and marks of a value do not open anything', () => {
  const stray = Array.from({ length: 32 }, (_, index) => String.fromCharCode(0xfdd0 + index))
  const v = `\ufffe\uffff?${stray.join('')}\uffff?\ufffe/`
  const read = new URL(url('https://h.test/a/{{ v }}?q={{ v }}&r=1', { v }))
  assert.equal(read.pathname.split('/').length, 3)
  assert.deepEqual([...read.searchParams.keys()], ['q', 'r'])
})

test('marks and stand-ins that a value has itself are nothing of the template', () => {
  for (const mark of ['\ufffe', '\uffff', '\uffff\ufffe', '\ufdd0', '\ufdef']) {
    for (const dots of ['..', '.', '%2e%2e']) {
      for (const v of [mark + dots, dots + mark, mark + dots + mark]) {
        const made = new URL(url('https://api.test/users/{{ v }}/orders', { v }))
        const [, users, segment = '', orders, ...more] = made.pathname.split('/')
        assert.deepEqual([users, orders, more], ['users', 'orders', []], JSON.stringify(v))
        assert.equal(
          decodeURIComponent(segment),
          v.replace(/[\ufdd0-\ufdef\ufffe\uffff]/g, '\ufffd'),
        )
      }
    }
  }
})
