/** The campaign of the benchmark: personalised HTML of 5 KB with five links. */
import { prose } from '../mail/sender.ts'

const HTML_BYTES = 5_000
const LINKS = 5

export function campaignLink(index: number): string {
  return `https://shop.example/offers/${index}`
}

export function makeCampaignBody() {
  const links = Array.from(
    { length: LINKS },
    (_, index) => `<p><a href="${campaignLink(index)}">Offer ${index}</a></p>`,
  ).join('\n')
  const text = prose(HTML_BYTES - links.length)
  return {
    name: 'Spring',
    subject: 'News for {{ name }}',
    body: `${text.replaceAll('{{ order }}', '17')}${links}`,
    from: 'news@example.test',
    audienceType: 'ALL',
  }
}
