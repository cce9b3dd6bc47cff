/**
 * Three-letter ISO 4217 code. The list of the twenty most traded currencies is only for completion: the spec names no
 * closed set. A parameter may be any three capital letters; the service may send any text.
 */
export type CurrencyCode =
  | 'AUD'
  | 'BRL'
  | 'CAD'
  | 'CHF'
  | 'CNY'
  | 'DKK'
  | 'EUR'
  | 'GBP'
  | 'HKD'
  | 'INR'
  | 'JPY'
  | 'KRW'
  | 'MXN'
  | 'NOK'
  | 'NZD'
  | 'SEK'
  | 'SGD'
  | 'TWD'
  | 'USD'
  | 'ZAR'
  | (string & {});
