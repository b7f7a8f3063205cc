/**
 * Names of columns that are filled for people who left, in the languages of the hosted pages: compared as the
 * names of the address column are. A name with the beginning of such a word, as `unsub_on`, is likely one, and so is
 * a name with another usual meaning: `Data wypisu` is the day of a discharge, too, and `退订日期` that of a cancellation.
 */
import { simplifyName } from './address-column.ts'

const NAMES: Record<string, string[]> = {
  nl: [
    'Uitgeschreven',
    'Uitgeschreven op',
    'Uitschrijfdatum',
    'Afgemeld',
    'Afgemeld op',
    'Afmelddatum',
  ],
  fr: [
    ...['Désinscrit', 'Désinscrite', 'Désinscrit(e)', 'Désinscrit le', 'Désinscription'],
    ...['Date de désinscription', 'Désabonné', 'Désabonnée', 'Désabonné(e)', 'Désabonné le'],
    ...['Désabonnement', 'Date de désabonnement'],
  ],
  hi: ['अनसब्सक्राइब', 'अनसब्सक्राइब किया', 'सदस्यता समाप्त', 'सदस्यता रद्द'],
  de: [
    ...['Abgemeldet', 'Abgemeldet am', 'Abgemeldet seit', 'Abmeldung', 'Abmeldung am'],
    ...['Abmeldedatum', 'Abmeldezeitpunkt', 'Abbestellt', 'Abbestellt am', 'Newsletter abgemeldet'],
  ],
  pt: [
    ...['Descadastrado', 'Descadastrado em', 'Data de descadastro', 'Cancelou a inscrição'],
    ...['Inscrição cancelada', 'Desinscrito', 'Desinscrito em', 'Subscrição cancelada'],
  ],
  bg: ['Отписан', 'Отписан на', 'Отписване', 'Дата на отписване'],
  cs: ['Odhlášen', 'Odhlášeno', 'Odhlášen dne', 'Odhlášení', 'Datum odhlášení'],
  pl: ['Wypisany', 'Wypisany z newslettera'],
  es: [
    ...['Desuscrito', 'Desuscripto', 'Desuscrito el', 'Fecha de desuscripción', 'Dado de baja'],
    ...[
      'Cancelación de suscripción',
      'Suscripción cancelada',
      'Fecha de cancelación de suscripción',
    ],
  ],
  it: [
    ...['Disiscritto', 'Disiscritto il', 'Disiscrizione', 'Data di disiscrizione'],
    ...['Data disiscrizione', 'Iscrizione annullata'],
  ],
  'zh-TW': ['取消訂閱', '取消訂閱時間', '取消訂閱日期', '已退訂'],
  'zh-CN': ['取消订阅', '取消订阅时间', '取消订阅日期', '已退订'],
  ja: ['配信停止', '配信停止日', '配信停止日時', '購読解除', '購読解除日', '購読停止'],
  sv: [
    'Avregistrerad',
    'Avregistrerad den',
    'Avprenumererad',
    'Avanmäld',
    'Avslutad prenumeration',
  ],
  cy: ['Wedi dad-danysgrifio', 'Dad-danysgrifiwyd'],
}

const BEGINNINGS = [
  ...[
    'unsub',
    'opt out',
    'opted out',
    'afgemeld',
    'uitgeschrev',
    'désinscri',
    'désabonn',
    'abgemeld',
  ],
  ...[
    'abmeld',
    'abbestell',
    'descadastr',
    'desinscri',
    'desuscri',
    'disiscri',
    'odhlaš',
    'wypisan',
    'wypisu',
    'ausgetragen',
    'austragung',
  ],
  ...[
    'avprenum',
    'avregistr',
    'отписа',
    '退订',
    '退訂',
    '取消订阅',
    '取消訂閱',
    '購読解除',
    '配信停止',
  ],
].map(simplifyName)

/** Names of a link to leave, which everybody has, and of other ways than email. */
const OTHERS =
  /sms|whatsapp|push|phone|telefon|mobil|(?:url|uri|link|lien|token|hash|key|page|email|count|total|id)$/

const SIMPLIFIED_NAMES = new Set(Object.values(NAMES).flat().map(simplifyName))

export const LEFT_COLUMN_NAMES: Readonly<Record<string, readonly string[]>> = NAMES

/** Whether a header is the name of a column that is filled for people who left. */
export function isNameOfLeaving(header: string): boolean {
  return SIMPLIFIED_NAMES.has(simplifyName(header))
}

/** Whether a header may be such a name. */
export function isLikeLeaving(header: string): boolean {
  const name = simplifyName(header)
  return BEGINNINGS.some((begin) => name.includes(begin)) && !OTHERS.test(name)
}
