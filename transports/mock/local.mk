# mock: the descriptor (in every process) and what runs it (in hinny-flow).
transports_mock_desc_sources = transports/mock/mock_desc.c
transports_mock_sources = transports/mock/mock.c
