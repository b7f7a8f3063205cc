/**
 * What to tell the person who asks where their mail is: one or two sentences without codes, in the language of the
 * person and not of the interface. It holds its own texts, so that each language is there whatever the interface has.
 */
import { type EmailState, isExpired } from './email-state.ts'
import { fillText } from './fill.ts'
import { formatDate } from './format.ts'

export const CUSTOMER_LANGUAGES = ['en', 'de'] as const
export type CustomerLanguage = (typeof CUSTOMER_LANGUAGES)[number]

export type CustomerFacts = {
  state: EmailState
  reasonCode: string | null
  subject: string
  acceptedAt: string
  /** The first instant at which the receiver had it; null before. */
  deliveredAt: string | null
  giveUpAt: string | null
  /** The name that people know: a provider, or the domain of the address. */
  receiver: string
  timeZone: string
}

/** The situations that are told apart; `temporary` refusals at the end of their time are `expired`. */
const SITUATIONS = [
  'waiting',
  'sending',
  'deferred',
  'held',
  'relayed',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'suppressed',
  'cancelled',
  'expired',
  'notSent',
  'received',
] as const

type Situation = (typeof SITUATIONS)[number]

const TEXTS: Readonly<Record<CustomerLanguage, Readonly<Record<Situation, string>>>> = {
  en: {
    waiting:
      'Our email “{subject}” of {accepted} is ready and will leave us shortly. It should be with you within a few minutes.',
    sending:
      'Our email “{subject}” is just being handed to {receiver}. Please look again in a minute.',
    deferred:
      'Our email “{subject}” of {accepted} has been offered to {receiver}, which has not taken it yet. We keep trying until {until}; it should arrive within a few hours. There is nothing you have to do.',
    held: 'Our email “{subject}” of {accepted} is still with us: we have stopped it for the moment. We will tell you when it leaves.',
    relayed:
      'Our email “{subject}” left us on {delivered} and is on its way to you. If it is not there in an hour, please look into the spam folder.',
    delivered:
      'Your mail provider, {receiver}, took our email “{subject}” on {delivered}. If you do not see it, please look into the spam folder and search for the subject.',
    opened:
      'Your mail provider, {receiver}, took our email “{subject}” on {delivered}, and it has been opened since. Please search for the subject, also in other folders.',
    clicked:
      'Your mail provider, {receiver}, took our email “{subject}” on {delivered}, and a link in it has been followed since. Please search for the subject, also in other folders.',
    bounced:
      'Your mail provider, {receiver}, refused our email “{subject}” of {accepted}. Please check the address that you gave us, or give us another one.',
    complained:
      'Our email “{subject}” was delivered on {delivered}, and then reported to us as spam. We therefore send nothing more to this address unless you ask us to.',
    suppressed:
      'We did not send our email “{subject}” of {accepted}, because earlier mail to this address could not be delivered or was not wanted. Please tell us if the address works again, or give us another one.',
    cancelled: 'Our email “{subject}” of {accepted} was cancelled by us and not sent.',
    expired:
      'We tried to deliver our email “{subject}” of {accepted} several times. {receiver} did not take it in time, and we have stopped trying. Please give us another address, or tell us when to send it again.',
    notSent:
      'Our email “{subject}” of {accepted} was not sent, for a reason on our side. We are looking into it.',
    received: 'Your email “{subject}” of {accepted} has arrived here.',
  },
  de: {
    waiting:
      'Unsere E-Mail „{subject}“ vom {accepted} ist fertig und geht gleich hinaus. Sie sollte in wenigen Minuten bei Ihnen sein.',
    sending:
      'Unsere E-Mail „{subject}“ wird gerade an {receiver} übergeben. Bitte sehen Sie in einer Minute noch einmal nach.',
    deferred:
      'Wir haben unsere E-Mail „{subject}“ vom {accepted} bei {receiver} vorgelegt, dort wurde sie noch nicht angenommen. Wir versuchen es weiter bis {until}; sie sollte in den nächsten Stunden ankommen. Sie müssen nichts tun.',
    held: 'Unsere E-Mail „{subject}“ vom {accepted} ist noch bei uns: wir haben sie vorerst angehalten. Wir sagen Ihnen Bescheid, sobald sie hinausgeht.',
    relayed:
      'Unsere E-Mail „{subject}“ hat uns am {delivered} verlassen und ist auf dem Weg zu Ihnen. Ist sie in einer Stunde nicht da, sehen Sie bitte im Spam-Ordner nach.',
    delivered:
      'Ihr Mailanbieter {receiver} hat unsere E-Mail „{subject}“ am {delivered} angenommen. Wenn Sie sie nicht sehen, schauen Sie bitte in den Spam-Ordner und suchen Sie nach dem Betreff.',
    opened:
      'Ihr Mailanbieter {receiver} hat unsere E-Mail „{subject}“ am {delivered} angenommen, und sie wurde seitdem geöffnet. Bitte suchen Sie nach dem Betreff, auch in anderen Ordnern.',
    clicked:
      'Ihr Mailanbieter {receiver} hat unsere E-Mail „{subject}“ am {delivered} angenommen, und ein Link darin wurde seitdem angeklickt. Bitte suchen Sie nach dem Betreff, auch in anderen Ordnern.',
    bounced:
      'Ihr Mailanbieter {receiver} hat unsere E-Mail „{subject}“ vom {accepted} abgelehnt. Bitte prüfen Sie die Adresse, die Sie uns genannt haben, oder nennen Sie uns eine andere.',
    complained:
      'Unsere E-Mail „{subject}“ wurde am {delivered} zugestellt und uns dann als Spam gemeldet. Wir senden deshalb nichts mehr an diese Adresse, solange Sie uns nicht darum bitten.',
    suppressed:
      'Wir haben unsere E-Mail „{subject}“ vom {accepted} nicht gesendet, weil frühere Mails an diese Adresse nicht zugestellt werden konnten oder nicht erwünscht waren. Bitte sagen Sie uns, wenn die Adresse wieder funktioniert, oder nennen Sie uns eine andere.',
    cancelled:
      'Unsere E-Mail „{subject}“ vom {accepted} wurde von uns zurückgezogen und nicht gesendet.',
    expired:
      'Wir haben mehrmals versucht, unsere E-Mail „{subject}“ vom {accepted} zuzustellen. {receiver} hat sie nicht rechtzeitig angenommen, und wir haben es aufgegeben. Bitte nennen Sie uns eine andere Adresse, oder sagen Sie uns, wann wir sie noch einmal senden sollen.',
    notSent:
      'Unsere E-Mail „{subject}“ vom {accepted} wurde nicht gesendet; der Grund liegt bei uns. Wir kümmern uns darum.',
    received: 'Ihre E-Mail „{subject}“ vom {accepted} ist bei uns angekommen.',
  },
}

/** The language of `wanted`, such as `de-AT`, if there is a text in it; else English. */
export function customerLanguage(wanted: unknown): CustomerLanguage {
  const code = typeof wanted === 'string' ? wanted.slice(0, 2).toLowerCase() : ''
  return CUSTOMER_LANGUAGES.find((one) => one === code) ?? 'en'
}

export function customerText(facts: CustomerFacts, language: CustomerLanguage): string {
  const { subject, acceptedAt, deliveredAt, giveUpAt, receiver } = facts
  const at = (instant: string | null) => dayAndTime(instant ?? acceptedAt, facts, language)
  const values = {
    ...{ subject, receiver },
    accepted: at(acceptedAt),
    delivered: at(deliveredAt),
    until: at(giveUpAt),
  }
  return fillText<string>(TEXTS[language][situationOf(facts)], values, language).join('')
}

function situationOf({ state, reasonCode }: CustomerFacts): Situation {
  if (state === 'paused') return reasonCode === 'campaign_pace' ? 'waiting' : 'held'
  if (state !== 'failed') return state
  return isExpired(state, reasonCode) ? 'expired' : 'notSent'
}

/** `30 November at 08:58`: people need neither the year nor the seconds. */
function dayAndTime(instant: string, { timeZone }: CustomerFacts, language: string): string {
  const place = { locale: language === 'en' ? 'en-GB' : language, timeZone }
  const at = new Date(instant)
  const [day, time] = [formatDate('longDay', at, place), formatDate('clock', at, place)]
  return language === 'de' ? `${day} um ${time}` : `${day} at ${time}`
}
